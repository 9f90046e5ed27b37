// SPDX-License-Identifier: Apache-2.0
// nigh sim calibrate: measures this machine and writes its file for the simulator.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "bench/calibrate/measure.hpp"
#include "bench/options.hpp"
#include "bench/results.hpp"
#include "bench/statistics.hpp"

namespace {

using namespace bench;

struct Flags {
  std::string output = "-", xml;
  bool quick = false;
};

std::string quoted(std::string const& text) { return nlohmann::json(text).dump(); }

std::string number(double value, std::string const& source) {
  return fmt::format("{{\"value\": {:.4g}, \"source\": {}}}", value, quoted(source));
}

class Writer {
 public:
  explicit Writer(std::string const& date)
      : by_("measured by nigh sim calibrate, " + date.substr(0, 10)) {}

  std::string measured(Samples const& samples, std::string const& what, double factor = 1) const {
    auto const s = statistics_of(samples);
    return number(factor * s.median,
                  fmt::format("{}: {}; median of {}, {:.4g} to {:.4g}", by_, what, samples.size(),
                              factor * s.min, factor * s.max));
  }
  std::string const& by() const noexcept { return by_; }

 private:
  std::string by_;
};

std::string topology_text(nigh::topology const& machine, Flags const& f, Writer const& w) {
  if (!f.xml.empty())
    return fmt::format("\"xml\": {},\n    \"source\": \"lstopo\"",
                       quoted(std::filesystem::path(f.xml).filename().string()));
  auto const synthetic = synthetic_of(machine);
  if (synthetic.empty())
    throw UsageError(
        "sim calibrate: this machine is not regular: write its topology with lstopo FILE.xml and "
        "name that with --xml");
  return fmt::format("\"synthetic\": {},\n    \"source\": {}", quoted(synthetic), quoted(w.by()));
}

std::string links_text(nigh::topology const& machine, Bandwidths const& b, Writer const& w) {
  int const domains = machine.cpu_domains();
  if (domains < 2) return "";
  std::string pairs;
  for (int i = 0; i < domains; ++i)
    for (int j = i + 1; j < domains; ++j)
      pairs += fmt::format("{}[{}, {}]", pairs.empty() ? "" : ", ", i, j);
  return fmt::format(
      "  \"links\": {{\n    \"between\": [{}],\n    \"source\": \"assumed: a link between any "
      "two\",\n"
      "    \"gb_per_s\": {},\n    \"distance\": {}\n  }},\n",
      pairs, w.measured(b.link, "all threads of a domain copy in another one's memory"),
      number(10, "assumed: as on sun-x4600"));
}

std::string steal_level_text(std::string const& name, std::string const& within, int cpus,
                             std::array<std::string, 5> const& numbers) {
  auto text = fmt::format("    {}: {{\n", quoted(name));
  if (!within.empty()) text += fmt::format("      \"within\": {},\n", quoted(within));
  return text + fmt::format(
                    "      \"cpus\": {},\n      \"probe_ns\": {},\n      \"lock_ns\": {},\n"
                    "      \"copy_ns\": {},\n      \"unlock_ns\": {},\n      \"gb_per_s\": {}\n"
                    "    }}",
                    cpus, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
}

// "l3; domain, package, host are the same cpus here".
std::string level_note(StealLevel const& l) {
  std::string text(to_string(l.level));
  for (auto const other : l.same)
    text += (other == l.same.front() ? "; " : ", ") + std::string(to_string(other));
  if (l.same.empty()) return text;
  return text + (l.same.size() == 1 ? " is" : " are") + " the same cpus here";
}

// A thief of nigh's looks (a line comes from its victim's cache), takes (a compare-exchange; there
// is no lock) and fetches the task (another line).
std::string measured_level_text(StealLevel const& l, std::string const& within,
                                StealCosts const& costs, Writer const& w) {
  auto const cpus = fmt::format("cpus {} and {} of {}", l.owner, l.thief, level_note(l));
  auto const line = "half of a cache line's way there and back, " + cpus;
  auto const steal = statistics_of(costs.steal);
  auto const taking = fmt::format(
      "{}: a steal, {:.4g} ns from a fork until its worker sees it begun, median of {}, {:.4g} to "
      "{:.4g}, less probe and copy, {}",
      w.by(), steal.median, costs.steal.size(), steal.min, steal.max, cpus);
  return steal_level_text(
      std::string(to_string(l.level)), within, l.cpus,
      {w.measured(costs.line, line, 0.5),
       number(std::max(0.0, steal.median - median_of(costs.line)), taking),
       w.measured(costs.line, line, 0.5), number(0, w.by() + ": nigh's thieves take no lock"),
       w.measured(costs.gb_per_s, "a copy of what the other cpu has just written, " + cpus)});
}

std::string levels_text(nigh::topology const& machine, int repetitions, Writer const& w) {
  auto const levels = steal_levels(machine);
  if (levels.empty()) {  // one cpu
    auto const none = w.by() + ": there is one cpu, and nobody to steal from";
    auto const zero = number(0, none);
    return steal_level_text("host", "", 1, {zero, zero, zero, zero, number(1, none)});
  }
  std::string text;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::string const within(i + 1 < levels.size() ? to_string(levels[i + 1].level) : "");
    text +=
        (i > 0 ? ",\n" : "") +
        measured_level_text(levels[i], within, measure_steals(machine, levels[i], repetitions), w);
  }
  return text;
}

std::string machine_text(nigh::topology const& machine, Flags const& f) {
  auto const run = record_run(machine);
  Writer const w(run.date);
  auto const topology = topology_text(machine, f, w);
  Effort effort;
  if (f.quick) effort = {2, std::size_t{8} << 20};

  auto const messages = measure_messages(effort.repetitions);  // forks, so before any thread
  auto const b = measure_bandwidths(machine, effort);
  auto const meetings = measure_meetings(machine, effort.repetitions);
  auto const spawns = measure_spawns(machine, effort.repetitions);
  auto const levels = levels_text(machine, effort.repetitions, w);
  auto const slices = measure_slices(machine.cpus().front(), effort.repetitions);

  std::string const copy = b.streaming ? "copy with non-temporal stores" : "copy, 24 B an element";
  double per_hop = 0;
  std::string far = w.by() + ": no other domain has cpus";
  if (!b.thread_far.empty()) {
    per_hop = std::max(0.0, median_of(b.thread) / median_of(b.thread_far) - 1);
    far = fmt::format("{}: a thread's copy, {:.4g} GB/s near and {:.4g} far, medians of {}", w.by(),
                      median_of(b.thread), median_of(b.thread_far), b.thread_far.size());
  }
  // All threads together get no less than one of them; where they did, others were at work.
  bool const were_disturbed = median_of(b.controller) < median_of(b.thread);
  auto const controller =
      were_disturbed ? w.measured(b.thread, copy +
                                                ", one thread: all threads of a domain got less, "
                                                "since others were at work")
                     : w.measured(b.controller, copy + ", all threads of a domain");
  auto const threads = machine.domains().front().cpus.size();
  return fmt::format(
      "{{\n  \"format\": 1,\n  \"title\": {},\n  \"topology\": {{\n    {}\n  }},\n{}"
      "  \"memory\": {{\n    \"thread_gb_per_s\": {},\n    \"per_hop\": {},\n"
      "    \"controller_gb_per_s\": {},\n    \"crowding\": {},\n    \"uncrowded_flows\": {},\n"
      "    \"read_share\": {}\n  }},\n  \"costs\": {{\n    \"message_ns\": {},\n"
      "    \"barrier_ns\": {},\n    \"slice_ns\": {},\n    \"spawn_ns\": {}\n  }},\n"
      "  \"levels\": {{\n{}\n  }}\n}}",
      quoted(run.machine), topology, links_text(machine, b, w),
      w.measured(b.thread, copy + ", one thread"), number(per_hop, far), controller,
      number(0, "not measured apart: controller_gb_per_s is what all threads get"),
      number(static_cast<double>(threads), "with crowding"),
      number(0.667, "assumed: two of three lines are read"),
      w.measured(messages, "half of the way there and back between two processes"),
      meetings.empty() ? number(0, w.by() + ": there is one cpu")
                       : w.measured(meetings, "a fork-join on all cpus, for each thread"),
      slices.empty() ? number(4e6, "assumed: as on sun-x4600; nobody was preempted while measured")
                     : w.measured(slices, "two threads on one cpu"),
      w.measured(spawns, "a fork-join of nothing by the only worker, beside two calls"), levels);
}

std::vector<int> sorted(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

void calibrate(Flags const& f) {
  if (f.output != "-") check_writable("--output", f.output);
  std::error_code unknown;
  if (!f.xml.empty() && std::filesystem::equivalent(f.xml, f.output, unknown) && !unknown)
    throw UsageError("--output: " + f.output + " is that of --xml");
  auto live = f.xml.empty() ? nigh::topology::live() : nigh::topology::from_xml(f.xml);
  if (!live) throw UsageError((f.xml.empty() ? "sim calibrate: " : "--xml: ") + live.message());
  // Measured is what is here, whatever else the file says of it.
  auto const machine = f.xml.empty() ? *live : nigh::this_host();
  if (sorted(live->cpus()) != sorted(machine.cpus()))
    throw UsageError(fmt::format("--xml: {} has {} cpus, other ones than the {} of this process",
                                 f.xml, live->cpus().size(), machine.cpus().size()));
  auto const text = machine_text(machine, f);
  ResultFile file("--output", f.output);
  file.write(text);
  file.finish();
}

}  // namespace

int main(int argc, char** argv) {
  auto const f = std::make_shared<Flags>();
  return run_program(
      "nigh sim calibrate", "Measures this machine and writes its file for nigh sim.", argc, argv,
      [&](CLI::App& app) {
        app.add_option("-o,--output", f->output, "Where to write it; - for standard output (-)")
            ->type_name("FILE");
        app.add_option("--xml", f->xml, "The machine's topology from lstopo, beside the output")
            ->type_name("FILE.xml");
        app.add_flag("--quick", f->quick, "Little and short: to see that it works");
      },
      [&] { calibrate(*f); });
}
