// SPDX-License-Identifier: Apache-2.0
// Ways to share a host, as tables for people and as results for scripts.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>

#include "base/counted.hpp"
#include "bench/coordinator/programs.hpp"
#include "bench/coordinator/studies.hpp"
#include "bench/processes.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/turns.hpp"
#include "platform/energy.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

Command plain(SharingProgram const& program) { return {program.words, {}}; }

Command with_threads(SharingProgram const& program, int threads) {
  return {program.words, {{"OMP_NUM_THREADS", std::to_string(threads)}}};
}

// These programs do well with teams of any size, which is what is shown here: how many threads each
// should have. Their outputs are compared.
Command coordinated(SharingProgram const& program, std::string const& socket) {
  std::vector<std::string> words{nigh_command(), "run", "--adjust", "without-clause", "--"};
  words.insert(words.end(), program.words.begin(), program.words.end());
  return {words, {{"NIGH_SOCKET", socket}, {"NIGH_VERBOSE", "1"}}};
}

// Reads the shim's last line: "nigh: gauss: 2401 regions, 2401 on granted cpus (1 to 2 of 2)".
long granted_regions(std::string const& errors) {
  auto const behind = errors.find(" on granted cpus");
  auto const before = behind == std::string::npos ? behind : errors.rfind(", ", behind);
  return before == std::string::npos ? 0 : std::atol(errors.c_str() + before + 2);
}

std::string first_line(std::string const& text) { return text.substr(0, text.find('\n')); }

class StudyRunner {
 public:
  explicit StudyRunner(ThroughputStudy& study) : study_(study) {}

  // Also what every other run's outputs are compared with.
  void run_alone(nigh::topology const& machine) {
    auto const most = static_cast<int>(machine.cpus().size());
    std::map<std::string, Alone> known;
    for (SharingProgram const& program : study_.programs) {
      if (!known.contains(program.name)) {
        Alone& alone = known[program.name];
        for (int threads = 1; threads <= most; ++threads) {
          auto const ended = run({with_threads(program, threads)}, {&program}).front();
          alone.seconds.push_back(ended.seconds);
          bool const is_good = alone.seconds[0] / ended.seconds >= 0.8 * threads;
          if (is_good) alone.best_threads = threads;
        }
      }
      study_.alone.push_back(known[program.name]);
    }
  }

  void sample(Sharing& way) {
    std::vector<Ended> all;
    energy_.look();  // what was used until now is nobody's
    if (way.name == "sequential") {
      double begun = 0;
      for (SharingProgram const& program : study_.programs) {
        all.push_back(run({plain(program)}, {&program}, &way).front());
        begun = std::max(begun, program.comes_seconds);
        all.back().seconds += begun;
        begun = all.back().seconds;
      }
    } else {
      std::optional<Daemon> daemon;
      if (!way.policy.empty()) daemon.emplace(way.policy);
      std::vector<Command> commands;
      std::vector<SharingProgram const*> programs;
      for (std::size_t i = 0; i < study_.programs.size(); ++i) {
        SharingProgram const& program = study_.programs[i];
        programs.push_back(&program);
        if (daemon)
          commands.push_back(coordinated(program, daemon->socket()));
        else if (way.name == "fixed")
          commands.push_back(with_threads(program, study_.alone[i].best_threads));
        else
          commands.push_back(plain(program));
        commands.back().start_seconds = program.comes_seconds;
      }
      all = run(commands, programs, &way);
      if (daemon) count_granted(way, all);
    }
    auto const packages = energy_.look();
    double joules = 0;
    for (auto const& package : packages) joules += static_cast<double>(package.used_uj) / 1e6;
    if (!way.granted.empty() && way.granted.back() == 0) {
      way.absent = "no program was granted cpus; the first said: " + first_line(all.front().errors);
      return;
    }
    double last = 0, sum = 0, cpu = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      last = std::max(last, all[i].seconds);
      sum += all[i].seconds - study_.programs[i].comes_seconds;
      cpu += all[i].cpu_seconds;
    }
    way.seconds.push_back(last);
    way.mean_end.push_back(sum / static_cast<double>(all.size()));
    way.cpu_seconds.push_back(cpu);
    if (!packages.empty()) way.joules.push_back(joules);
  }

 private:
  // A program that never asked is measured as without a coordinator: to be known.
  static void count_granted(Sharing& way, std::vector<Ended> const& all) {
    auto const granted = std::count_if(
        all.begin(), all.end(), [](Ended const& e) { return granted_regions(e.errors) > 0; });
    way.granted.push_back(static_cast<double>(granted));
  }

  std::vector<Ended> run(std::vector<Command> const& commands,
                         std::vector<SharingProgram const*> const& programs,
                         Sharing* way = nullptr) {
    auto all = run_together(commands);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].status != 0)
        throw std::runtime_error(programs[i]->name + " ended with status " +
                                 std::to_string(all[i].status) + ": " + all[i].errors);
      auto const lasting = programs[i]->lasting(all[i].output);
      auto const& expected = outputs_.try_emplace(programs[i]->name, lasting).first->second;
      if (way != nullptr && lasting != expected) way->same_outputs = false;
    }
    return all;
  }

  ThroughputStudy& study_;
  nigh::platform::EnergyMeter energy_;
  std::map<std::string, std::string> outputs_;
};

}  // namespace

ThroughputStudy study_throughput(ThroughputOptions const& o, nigh::topology const& machine) {
  ThroughputStudy study;
  study.options = o;
  study.programs = o.programs == 0
                       ? sharing_programs(o.tiny)
                       : random_programs(o.tiny, static_cast<int>(o.programs),
                                         static_cast<unsigned>(o.seed), o.mean_pause_seconds);
  for (char const* const name : {"sequential", "together", "fixed"})
    study.ways.push_back({.name = name});
  auto const under = [&](std::string const& name, std::string const& policy) {
    study.ways.push_back({.name = name, .policy = policy, .absent = Daemon::why_absent()});
  };
  for (std::string const& policy : o.policies) under("coordinator/" + policy, policy);
  if (o.policies.empty()) under("coordinator", "clustered-adjusting");

  StudyRunner runner(study);
  nigh::platform::Progress progress(
      static_cast<int>(o.repetitions) * static_cast<int>(study.ways.size()) + 1);
  progress.step("each alone");
  runner.run_alone(machine);
  for (long repetition = 0; repetition < o.repetitions; ++repetition)
    for (std::size_t i = 0; i < study.ways.size(); ++i) {
      Sharing& way = study.ways[way_at(i, static_cast<std::size_t>(repetition), study.ways.size())];
      progress.step(way.name);
      if (way.absent.empty()) runner.sample(way);
    }
  return study;
}

Sharing const& ThroughputStudy::way(std::string_view name) const {
  return *std::find_if(ways.begin(), ways.end(), [&](Sharing const& w) { return w.name == name; });
}

double ThroughputStudy::ratio(Sharing const& mine, std::string_view name) const {
  Sharing const& other = way(name);
  std::vector<double> ratios;
  for (std::size_t n = 0; n < std::min(mine.seconds.size(), other.seconds.size()); ++n)
    ratios.push_back(mine.seconds[n] / other.seconds[n]);
  return median_of(ratios);
}

namespace {

std::string title_of(Sharing const& way) {
  if (way.name == "sequential") return "one after the other";
  if (way.name == "together") return "all at once";
  if (way.name == "fixed") return "all at once, best threads";
  return "all at once, " + way.name;
}

std::string choice(ThroughputOptions const& o) {
  if (o.programs == 0) return {};
  std::string said = fmt::format("programs and sizes at random, seed {}", o.seed);
  if (o.mean_pause_seconds > 0)
    said += fmt::format("; one comes every {:.2f} s on average", o.mean_pause_seconds);
  return said + '\n';
}

std::string programs_table(ThroughputStudy const& s) {
  Table t;
  std::vector<std::string> head{"alone, seconds"};
  for (std::size_t n = 1; n <= s.alone.front().seconds.size(); ++n)
    head.push_back(nigh::base::counted(n, "thread"));
  head.push_back("best threads");
  if (s.options.programs > 0) head.push_back("how many");
  t.row(head);
  t.rule();
  std::map<std::string, std::size_t> by_name;
  for (SharingProgram const& program : s.programs) ++by_name[program.name];
  for (std::size_t i = 0; i < s.programs.size(); ++i) {
    std::vector<std::string> row{s.programs[i].name};
    auto const left = by_name.extract(s.programs[i].name);
    if (left.empty()) continue;
    for (double const seconds : s.alone[i].seconds) row.push_back(fmt::format("{:.2f}", seconds));
    row.push_back(fmt::format("{}", s.alone[i].best_threads));
    if (s.options.programs > 0) row.push_back(fmt::format("{}", left.mapped()));
    t.row(row);
  }
  return t.text();
}

}  // namespace

std::string describe(ThroughputStudy const& s) {
  Table t;
  bool const has_energy = !s.ways.front().joules.empty();
  std::vector<std::string> head{"",           "seconds",  "spread",      "of sequential",
                                "of at once", "mean end", "cpu seconds", "outputs"};
  if (has_energy) head.push_back("joules");
  t.row(head);
  t.rule();
  std::string notes;
  for (Sharing const& way : s.ways) {
    if (!way.absent.empty()) {
      notes += fmt::format("\nabsent: {}: {}\n", title_of(way), way.absent);
      continue;
    }
    Statistics const seconds = statistics_of(way.seconds);
    std::vector<std::string> row{
        title_of(way),
        fmt::format("{:.2f}", seconds.median),
        fmt::format("{:.0f}%", 100 * (seconds.max - seconds.min) / seconds.median),
        fmt::format("{:.2f}", s.ratio(way, "sequential")),
        fmt::format("{:.2f}", s.ratio(way, "together")),
        fmt::format("{:.2f}", median_of(way.mean_end)),
        fmt::format("{:.2f}", median_of(way.cpu_seconds)),
        way.same_outputs ? "same" : "DIFFER"};
    if (has_energy)
      row.push_back(way.joules.empty() ? "-" : fmt::format("{:.1f}", median_of(way.joules)));
    t.row(row);
  }
  if (!has_energy) notes += "\nenergy: not available here\n";
  for (Sharing const& way : s.ways)
    if (!way.granted.empty())
      notes += fmt::format("\n{}: cpus granted to {:.0f} of {} programs\n", title_of(way),
                           median_of(way.granted), s.programs.size());
  return fmt::format(
      "{} OpenMP programs on one host: seconds until the last has ended, median of {} samples, "
      "all\n"
      "ways in turn; ratios: medians sample by sample; mean end: of a program, since it came\n{}\n"
      "{}\n{}{}",
      s.programs.size(), s.options.repetitions, choice(s.options), programs_table(s), t.text(),
      notes);
}

std::vector<Result> results(ThroughputStudy const& s) {
  std::string names;
  for (SharingProgram const& program : s.programs)
    names += (names.empty() ? "" : ", ") + program.name;
  std::vector<Result> all;
  for (Sharing const& way : s.ways) {
    Result r;
    r.bench = "coordinator/throughput";
    r.variant = way.name;
    r.params = {{"programs", static_cast<long>(s.programs.size())}, {"set", names}};
    if (s.options.programs > 0) r.params["seed"] = s.options.seed;
    if (s.options.mean_pause_seconds > 0) r.params["mean_pause_s"] = s.options.mean_pause_seconds;
    r.metric = "total_time";
    r.unit = "s";
    r.absent = way.absent;
    r.samples = way.seconds;
    if (way.absent.empty()) {
      r.verified = way.same_outputs;
      r.counters = {{"of_sequential", s.ratio(way, "sequential")},
                    {"of_together", s.ratio(way, "together")},
                    {"mean_end_s", median_of(way.mean_end)},
                    {"cpu_s", median_of(way.cpu_seconds)}};
    }
    if (way.joules.empty())
      r.counters["energy_j"] = nullptr;
    else
      r.counters["energy_j"] = median_of(way.joules);
    if (!way.granted.empty()) r.counters["programs_granted"] = median_of(way.granted);
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace bench
