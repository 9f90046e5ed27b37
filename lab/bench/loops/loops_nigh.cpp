// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>

#include "bench/loops/kernels.hpp"

namespace bench {

// From within a worker, as from an OpenMP program's first thread.
Loops nigh_loops(std::vector<int> const& cpus) {
  nigh::runtime_options options;
  options.cpus = cpus;
  auto const runtime = std::make_shared<nigh::runtime>(options);
  auto const run = [runtime](std::string const& schedule, std::size_t n, auto const& body) {
    nigh::loop_options how;
    how.how = nigh::parse_schedule(schedule).value();
    how.where = runtime.get();
    nigh::parallel_for(std::size_t{0}, n, body, how);
  };
  return {[run](std::size_t n, FillElement const& f) { run("static", n, f); }, run, run};
}

}  // namespace bench
