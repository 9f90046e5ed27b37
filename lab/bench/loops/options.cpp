// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/command.hpp"
#include "bench/options.hpp"

namespace bench {

void LoopsFlags::declare(CLI::App& app) {
  app.add_option("--threads", threads, "threads of each runtime; default 2");
  app.add_option("--repetitions", repetitions, "samples of triad and triangle; default 25");
  app.add_option("--elements", elements, "of each of the triad's arrays; default 20000000");
  app.add_option("--rows", rows, "of the triangle; default 4000");
  app.add_flag("--quick", quick, "small arrays and few samples: does it work?");
  app.add_option("--json", json, "write results as JSON lines to this file, - for standard output");
  app.add_option("--plot", plot, "draw the comparison, FILE.svg or FILE.png");
}

LoopsOptions check(LoopsFlags const& f) {
  LoopsOptions o(live_machine());
  o.quick = f.quick;
  in_range("--threads", f.threads, 2, 1'000'000);
  o.cpus = cpus_for(f.threads, o.machine);
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 2 : 25, 1'000'000));
  o.elements = static_cast<std::size_t>(in_range("--elements", f.elements, 1, 1L << 33));
  o.rows = static_cast<std::size_t>(in_range("--rows", f.rows, 1, 1'000'000));
  if (f.quick) {
    o.elements = std::min<std::size_t>(o.elements, 100'000);
    o.rows = std::min<std::size_t>(o.rows, 300);
  }
  return o;
}

}  // namespace bench
