// SPDX-License-Identifier: Apache-2.0
#pragma once
// A benchmark is a description, and one driver runs them all: it reads the options, complains in
// one line, and makes a table, JSON lines and a figure of what was measured.

#include <functional>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/results.hpp"
#include "platform/progress.hpp"

namespace CLI {
class App;
}

namespace bench {

// The options of every benchmark; each adds its own.
struct Flags {
  std::string json, plot;
  std::optional<long> repetitions;
  bool quick = false, list = false;
};

// The findings of a part of a benchmark: for people, and for scripts.
struct Findings {
  std::string text;
  std::vector<Result> results;
};

// The runs that the checked options ask for. The parts run in this order, and each is
// shown when it has ended.
struct Plan {
  nigh::topology const* machine = nullptr;
  std::vector<std::function<Findings()>> parts = {};
  std::function<void()> instead = {};  // prints facts itself: neither tables nor results
};

struct Benchmark {
  std::string name;      // nigh bench NAME; plots/NAME.py draws its figure
  std::string measures;  // for --help
  std::string wrong;     // the complaint where an answer was verified and wrong
  std::string samples;   // for --help: of what, and how many by default
  std::string quick;     // for --help: what is small then
  enum class Process {
    plain,
    openmp,      // runs OpenMP, whose settings are read when the program starts
    deep_tasks,  // the same, and tasks recurse deeply
  } process = Process::openmp;
  std::function<void(CLI::App&)> options;  // its own
  std::function<void()> list = {};         // for --list; empty: there is no such option
  std::function<Plan()> plan;              // UsageError naming the argument for what cannot be
};

// main() of a benchmark. The options of all go to `flags`, before plan() is called.
int run_benchmark(Benchmark const& benchmark, Flags& flags, int argc, char** argv);

// The study that measure() makes, by its describe() and results().
template <class Study, class Options>
Findings findings(Study const& study, Options const& options) {
  return {describe(study, options), results(study, options)};
}

// Samples all cells that are not absent in turn, so that what disturbs a while disturbs all alike.
template <class Cells, class Name, class Sample>
void take_turns(int repetitions, Cells& cells, Name const& name_of, Sample const& sample) {
  nigh::platform::Progress progress(repetitions * static_cast<int>(cells.size()));
  for (int n = 0; n < repetitions; ++n)
    for (auto& cell : cells) {
      progress.step(name_of(cell));
      if (cell.absent.empty()) sample(cell);
    }
}

}  // namespace bench
