// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/metrics.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace nigh::coordinator {
namespace {

constexpr Connection nobody = 0;  // asks without being connected

Status status_of(Coordinator& core, std::uint32_t program, Time now) {
  for (auto const& answer : core.step(Received{nobody, Query{program}}, now))
    if (auto const* const status = std::get_if<Status>(&answer.message)) return *status;
  return {};
}

void add(std::string& text, std::string_view name, std::string_view type, std::string_view help,
         std::uint64_t value) {
  text.append("# HELP nigh_").append(name).append(" ").append(help).append("\n# TYPE nigh_");
  text.append(name).append(" ").append(type).append("\nnigh_").append(name).append(" ");
  text.append(std::to_string(value)).append("\n");
}

std::string label_value(std::string_view text) {
  std::string escaped;
  for (char const c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string metrics_answer(Coordinator& core, Time now) {
  std::string text;
  std::vector<Status> programs;
  Status host = status_of(core, 0, now);
  while (host.program != 0) {
    programs.push_back(host);
    host = status_of(core, host.program + 1, now);
  }
  add(text, "cpus", "gauge", "Cpus that are handed out.", host.cpus);
  add(text, "cpus_free", "gauge", "Cpus that nobody has a lease for.", host.free);
  add(text, "programs", "gauge", "Programs that are connected.", host.programs);
  add(text, "requests_waiting", "gauge", "Regions that wait for cpus.", host.waiting);
  add(text, "grants_total", "counter", "Leases granted.", host.grants);
  add(text, "revocations_total", "counter", "Leases asked back.", host.revocations);
  add(text, "refusals_total", "counter", "Messages refused.", host.refusals);
  text += "# HELP nigh_program_cpus Cpus that a program holds.\n# TYPE nigh_program_cpus gauge\n";
  for (auto const& p : programs)
    text += "nigh_program_cpus{pid=\"" + std::to_string(p.pid) + "\",name=\"" +
            label_value(p.name.view()) + "\"} " + std::to_string(p.held) + "\n";
  return "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; "
         "charset=utf-8\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

}  // namespace nigh::coordinator
