// SPDX-License-Identifier: Apache-2.0
// The output of nigh sim allocation: text and JSON lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"
#include "sim/hosts/throughput.hpp"
#include "sim/machine.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {

namespace {

struct AllocationStudy {
  sim::RequestOptions request_options;
  std::vector<sim::RequestCell> requests;
  sim::SetOptions small_options, large_options;
  std::vector<sim::WayCell> small, large;
};

// The allocation study as tables for people, published figures beside simulated ones, and as lines
// for scripts.

using sim::HostOutcome;
using sim::TeamSums;
using sim::Way;

// Numbers of the paper's text. Its bars have none.
constexpr double published_local = -0.70;       // slide 21
constexpr double published_improvement = 0.33;  // slide 28: up to
// Slides 23 and 24, whose bars have no numbers in the text: as their legends go.
constexpr std::string_view published_order =
    "sequential > fixed > simple > nearest > clustered-adjusting";
constexpr std::string_view published_order_of_many =
    "sequential > simple > nearest > clustered-adjusting";

// Other machines have nothing published.
bool is_the_papers(sim::Machine const& machine) {
  return machine.shape.cpu_domains() == 8 && machine.shape.cpus().size() == 32;
}

template <class Sample, class Number>
std::vector<double> samples(std::vector<Sample> const& all, Number number) {
  std::vector<double> values;
  for (Sample const& s : all) values.push_back(number(s));
  return values;
}

double local(sim::RequestCell const& c) {
  return tune::median(samples(c.sums, [](TeamSums const& s) { return s.local_per_link(); }));
}

// Seed by seed, for sets differ by far more than ways do.
std::vector<double> of_sequential(std::vector<sim::WayCell> const& cells, sim::WayCell const& c) {
  std::vector<double> ratios;
  for (std::size_t s = 0; s < c.outcomes.size(); ++s)
    ratios.push_back(c.outcomes[s].seconds / cells.front().outcomes[s].seconds);
  return ratios;
}

std::string requests_text(AllocationStudy const& s) {
  auto const& o = s.request_options;
  std::string text = fmt::format(
      "{} semi-random requests of {} programs, medians of {} seeds; distance of a team's threads\n"
      "with consecutive numbers (link)\n\n"
      "{:20}{:>7}{:>11}{:>11}{:>8}{:>8}{:>10}{:>10}\n",
      o.requests, o.programs, o.seeds, "", "link", "of random", "of nearest", "local", "total",
      "weighted", "missed N");
  double const random = local(s.requests[0]), nearest = local(s.requests[2]);
  for (auto const& c : s.requests) {
    auto const median = [&](auto number) { return tune::median(samples(c.sums, number)); };
    text += fmt::format("{:20}{:>7.2f}{:>+10.0f}%{:>+10.0f}%{:>8.1f}{:>8.0f}{:>10.0f}{:>9.1f}%\n",
                        c.policy, local(c), 100 * (local(c) / random - 1),
                        100 * (local(c) / nearest - 1),
                        median([](TeamSums const& t) { return t.per_request(t.local); }),
                        median([](TeamSums const& t) { return t.per_request(t.total); }),
                        median([](TeamSums const& t) { return t.per_request(t.weighted); }),
                        100 * median([](TeamSums const& t) { return t.miss_rate(); }));
  }
  return text + '\n';
}

std::string set_text(std::string_view title, std::vector<sim::WayCell> const& cells,
                     sim::SetOptions const& o) {
  std::string text = fmt::format(
      "{}: {} programs, {} at once, data {}; medians of {} seeds\n\n"
      "{:32}{:>9}{:>9}{:>17}{:>10}{:>7}{:>7}\n",
      title, o.programs, std::min(o.at_once, o.programs),
      o.data == sim::DataPlace::interleaved ? "interleaved" : "where first touched", o.seeds, "",
      "seconds", "change", "lowest..highest", "mean end", "team", "link");
  for (auto const& c : cells) {
    auto const median = [&](auto number) { return tune::median(samples(c.outcomes, number)); };
    auto const ratios = of_sequential(cells, c);
    text += fmt::format("{:32}{:>9.0f}{:>+8.0f}%{:>+8.0f}%..{:>+5.0f}%{:>10.0f}{:>7.1f}{:>7.1f}\n",
                        to_string(c.way), median([](HostOutcome const& h) { return h.seconds; }),
                        100 * (tune::median(ratios) - 1),
                        100 * (*std::min_element(ratios.begin(), ratios.end()) - 1),
                        100 * (*std::max_element(ratios.begin(), ratios.end()) - 1),
                        median([](HostOutcome const& h) { return h.mean_end_s; }),
                        median([](HostOutcome const& h) { return h.mean_team; }),
                        median([](HostOutcome const& h) { return h.distance_per_link; }));
  }
  return text + '\n';
}

sim::WayCell const* find(std::vector<sim::WayCell> const& cells, Way way) {
  auto const at =
      std::find_if(cells.begin(), cells.end(), [&](auto const& c) { return c.way == way; });
  return at == cells.end() ? nullptr : &*at;
}

double improvement(std::vector<sim::WayCell> const& cells) {
  return 1 - tune::median(of_sequential(cells, *find(cells, Way::adjusting)));
}

// Bars in the order of the paper's, slowest first: "a > b = c" where b and c are within 2%.
std::string order(std::vector<sim::WayCell> const& cells) {
  constexpr double alike = 0.02;
  std::string text;
  double last = 0;
  for (Way way : {Way::sequential, Way::fixed, Way::simple, Way::nearest, Way::adjusting}) {
    auto const* const cell = find(cells, way);
    if (cell == nullptr) continue;
    double const now = tune::median(of_sequential(cells, *cell));
    if (last > 0)
      text += now > last * (1 + alike) ? " < " : (now < last * (1 - alike) ? " > " : " = ");
    auto const name = to_string(way);
    auto const slash = name.find('/');
    text += slash == name.npos ? name : name.substr(slash + 1);
    last = now;
  }
  return text;
}

std::string beside_published(AllocationStudy const& s, bool published) {
  std::string text = published ? fmt::format("{:52}{:>10}{:>10}{:>8}\n", "beside what is published",
                                             "published", "simulated", "error")
                               : "in short; nothing is published of this machine\n";
  auto const line = [&](std::string const& what, double paper, double simulated) {
    text += fmt::format("{:52}", what);
    if (published) text += fmt::format("{:>+9.0f}%", 100 * paper);
    text += fmt::format("{:>+9.0f}%", 100 * simulated);
    if (published) text += fmt::format("{:>+8.0f}", 100 * (simulated - paper));
    text += '\n';
  };
  auto const bars = [&](std::string_view set, std::string_view paper,
                        std::string const& simulated) {
    text += fmt::format("order of bars, {} set: {}\n", set, simulated);
    if (published) text += fmt::format("{:>22}: {}\n", "published", paper);
  };
  if (!s.requests.empty())
    line("local distance, clustered-adjusting beside random", published_local,
         local(s.requests.back()) / local(s.requests.front()) - 1);
  if (!s.small.empty()) {
    line("total time, up to: the small set", -published_improvement, -improvement(s.small));
    line("total time, up to: the large set", -published_improvement, -improvement(s.large));
    bars("small", published_order, order(s.small));
    bars("large", published_order_of_many, order(s.large));
  }
  return text;
}

std::string set_lines(std::string const& bench, std::vector<sim::WayCell> const& cells,
                      sim::SetOptions const& o, sim::Machine const& machine) {
  std::string text;
  for (auto const& c : cells) {
    SimResult r;
    r.bench = bench;
    r.variant = to_string(c.way);
    r.params = {{"programs", o.programs},
                {"at_once", std::min(o.at_once, o.programs)},
                {"seed", static_cast<long>(o.seed)}};
    r.settings = {{"machine", machine.name},
                  {"data", o.data == sim::DataPlace::interleaved ? "interleaved" : "first-touch"}};
    r.metric = "total_time";
    r.unit = "s";
    auto const of = [&](auto number) { return samples(c.outcomes, number); };
    r.samples = of([](HostOutcome const& h) { return h.seconds; });
    r.counters = {
        {"of_sequential", tune::median(of_sequential(cells, c))},
        {"mean_end_s", tune::median(of([](HostOutcome const& h) { return h.mean_end_s; }))},
        {"team", tune::median(of([](HostOutcome const& h) { return h.mean_team; }))},
        {"local_distance_per_link",
         tune::median(of([](HostOutcome const& h) { return h.distance_per_link; }))}};
    text += json_line(r, machine);
  }
  return text;
}

std::string describe(AllocationStudy const& s, sim::Machine const& machine) {
  std::string text = machine.title + "\n\n";
  if (!s.requests.empty()) text += requests_text(s);
  if (!s.small.empty())
    text += set_text("Small set", s.small, s.small_options) +
            set_text("Large set", s.large, s.large_options);
  return text + beside_published(s, is_the_papers(machine));
}

std::string result_lines(AllocationStudy const& s, sim::Machine const& machine) {
  std::string text;
  for (auto const& c : s.requests) {
    SimResult r;
    r.bench = "sim/allocation/requests";
    r.variant = c.policy;
    r.params = {{"programs", s.request_options.programs},
                {"requests", s.request_options.requests},
                {"seed", static_cast<long>(s.request_options.seed)}};
    r.settings = {{"machine", machine.name}};
    r.metric = "local_distance_per_link";
    r.unit = "distance";
    auto const of = [&](auto number) { return samples(c.sums, number); };
    r.samples = of([](TeamSums const& t) { return t.local_per_link(); });
    r.counters = {{"of_random", local(c) / local(s.requests.front())},
                  {"miss_rate", tune::median(of([](TeamSums const& t) { return t.miss_rate(); }))},
                  {"total_distance",
                   tune::median(of([](TeamSums const& t) { return t.per_request(t.total); }))},
                  {"weighted_distance",
                   tune::median(of([](TeamSums const& t) { return t.per_request(t.weighted); }))}};
    text += json_line(r, machine);
  }
  text += set_lines("sim/allocation/small", s.small, s.small_options, machine);
  return text + set_lines("sim/allocation/large", s.large, s.large_options, machine);
}

// nigh sim allocation: the coordinator and its policies on the paper's machine.

constexpr int paper_programs = 6;  // that ask for cpus

struct AllocationFlags {
  std::string machine = "sun-x4600", data = "interleaved";
  int requests = 10000, programs = 13, large = 100, at_once = 8;
  SimSeeds random{5, 2010};
  bool only_requests = false, only_throughput = false;
  SimOutput output{"sim_allocation", {}, {}};
};

void study(AllocationFlags const& f) {
  f.output.check();
  auto const machine = machine_for("--machine", f.machine);
  auto const map = machine.core_map();
  AllocationStudy s;
  if (!f.only_throughput) {
    // Each program keeps its leader's cpu, and there must be one to hand out.
    int const programs = std::min(paper_programs, map.size() - 1);
    if (programs < 1)
      throw UsageError(
          fmt::format("--machine: {} has one cpu, which nobody can ask for", machine.name));
    s.request_options = {programs, f.requests, f.random.seeds, f.random.seed};
    s.requests = sim::study_requests(map, s.request_options);
  }
  if (!f.only_requests) {
    sim::MeasuredPrograms const measured(machine, map);
    s.small_options = {
        f.programs,
        f.programs,
        f.random.seeds,
        f.random.seed,
        f.data == "interleaved" ? sim::DataPlace::interleaved : sim::DataPlace::first_touch,
        {Way::sequential, Way::standard, Way::fixed, Way::simple, Way::nearest, Way::clustered,
         Way::adjusting, Way::learning}};
    s.large_options = s.small_options;
    s.large_options.programs = f.large;
    s.large_options.at_once = f.at_once;
    s.large_options.ways = {Way::sequential, Way::simple, Way::nearest, Way::adjusting};
    for (auto [cells, options] :
         {std::pair{&s.small, &s.small_options}, std::pair{&s.large, &s.large_options}}) {
      auto found = sim::study_set(machine, map, measured, *options);
      if (!found) throw std::runtime_error("sim: " + found.message());
      *cells = std::move(found).value();
    }
  }
  auto const lines = result_lines(s, machine);
  auto const text = describe(s, machine);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_allocation(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "allocation", "Programs that share a host: the paper on OpenMP process scheduling");
  auto const f = std::make_shared<AllocationFlags>();
  add_machine(*command, f->machine);
  auto const number = [&](char const* name, int& into, char const* what, int most) {
    command->add_option(name, into, what)->type_name("N")->check(CLI::Range(1, most));
  };
  number("--requests", f->requests, "So many semi-random requests (10000)", 10'000'000);
  number("--programs", f->programs, "In the small set, all at once (13)", 1000);
  number("--large", f->large, "In the large set (100)", 10'000);
  number("--at-once", f->at_once, "Of the large set, so many run at a time (8)", 1000);
  f->random.add_to(*command);
  command->add_option("--data", f->data, "Where programs' data lies: interleaved, first-touch")
      ->type_name("HOW")
      ->check(CLI::IsMember({"interleaved", "first-touch"}));
  auto* const requests = command->add_flag("--only-requests", f->only_requests, "No programs");
  command->add_flag("--only-throughput", f->only_throughput, "No requests")->excludes(requests);
  f->output.add_to(*command);
  command->callback([f] { study(*f); });
}

}  // namespace nigh::cli
