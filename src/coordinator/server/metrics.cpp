// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/printable.hpp"

namespace nigh::coordinator {
namespace {

struct Metric {
  std::string_view name, type, help;
};

void begin(std::string& text, Metric const& m) {
  text.append("# HELP nigh_").append(m.name).append(" ").append(m.help).append("\n# TYPE nigh_");
  text.append(m.name).append(" ").append(m.type).append("\n");
}

void add(std::string& text, Metric const& m, std::string const& value) {
  begin(text, m);
  text.append("nigh_").append(m.name).append(" ").append(value).append("\n");
}
void add(std::string& text, Metric const& m, std::uint64_t value) {
  add(text, m, std::to_string(value));
}

// A number of millionths, without rounding.
std::string millionths(std::uint64_t n) {
  auto const rest = std::to_string(n % 1'000'000);
  return std::to_string(n / 1'000'000) + "." + std::string(6 - rest.size(), '0') + rest;
}

// Prometheus refuses the whole text for one byte that is no UTF-8.
std::string label_value(std::string_view text) {
  std::string escaped;
  for (char const c : base::printable(text)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string metrics_answer(std::vector<Status> const& statuses) {
  std::string text;
  Status const& host = statuses.back();
  std::span<Status const> const programs(statuses.data(), statuses.size() - 1);
  add(text, {"cpus", "gauge", "Cpus that are handed out."}, host.cpus);
  add(text, {"cpus_free", "gauge", "Cpus that nobody has a lease for."}, host.free);
  add(text, {"cpus_strangers", "gauge", "Cpus busy with programs that know no coordinator."},
      static_cast<std::uint64_t>(host.external_load.count()));
  add(text, {"programs", "gauge", "Programs that are connected."}, host.programs);
  add(text, {"requests_waiting", "gauge", "Regions that wait for cpus."}, host.waiting);
  add(text, {"grants_total", "counter", "Leases granted."}, host.grants);
  add(text, {"revocations_total", "counter", "Leases asked back."}, host.revocations);
  add(text, {"unplaced_total", "counter", "Requests answered without cpus."}, host.unplaced);
  add(text, {"cpus_strangers_unseen", "gauge", "Whether others use leased cpus, too."},
      std::uint64_t{host.has_unseen_load});
  add(text, {"refusals_total", "counter", "Messages refused."}, host.refusals);
  bool const has_energy = host.measures_energy != 0;
  if (has_energy)
    add(text, {"energy_joules_total", "counter", "Energy used by the processor's packages."},
        millionths(host.energy_uj));

  // A process may be several programs: each of nigh's runtimes is one.
  std::vector<std::string> labels;
  labels.reserve(programs.size());
  for (auto const& p : programs)
    labels.push_back("{program=\"" + std::to_string(p.program) + "\",pid=\"" +
                     std::to_string(p.pid) + "\",name=\"" + label_value(p.name.view()) + "\"} ");
  auto const of_each = [&](Metric const& m, auto value_of) {
    begin(text, m);
    for (std::size_t i = 0; i < programs.size(); ++i)
      text.append("nigh_").append(m.name).append(labels[i]).append(value_of(programs[i])) += '\n';
  };
  of_each({"program_cpus", "gauge", "Cpus that a program holds."},
          [](Status const& p) { return std::to_string(p.held); });
  of_each({"program_grants_total", "counter", "Leases granted to a program."},
          [](Status const& p) { return std::to_string(p.granted); });
  of_each({"program_unplaced_total", "counter", "A program's requests answered without cpus."},
          [](Status const& p) { return std::to_string(p.ran_unplaced); });
  of_each({"program_waiting_seconds_total", "counter", "Time a program's regions have waited."},
          [](Status const& p) { return millionths(p.waited_us); });
  of_each({"program_tasks_total", "counter", "A program's OpenMP tasks that nigh has run."},
          [](Status const& p) { return std::to_string(p.tasks); });
  of_each({"program_tasks_stolen_total", "counter", "Those that another thread has taken."},
          [](Status const& p) { return std::to_string(p.stolen); });
  if (has_energy)
    of_each({"program_energy_joules_total", "counter",
             "Packages' energy, by the part of their cpu time that a program held."},
            [](Status const& p) { return millionths(p.used_uj); });
  return "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; "
         "charset=utf-8\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

}  // namespace nigh::coordinator
