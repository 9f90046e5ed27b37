// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>

#include <memory>
#include <stdexcept>

#include "bench/loops/kernels.hpp"
#include "bench/pin.hpp"
#include "workloads/team.hpp"

namespace bench {

Loops tbb_loops(std::vector<int> const& cpus) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  std::shared_ptr<workloads::Team> const team = make_tbb_team(options);
  auto const run = [team](std::string const& schedule, std::size_t n, auto const& body) {
    auto const each = [&body](oneapi::tbb::blocked_range<std::size_t> const& r) {
      for (auto i = r.begin(); i != r.end(); ++i) body(i);
    };
    oneapi::tbb::blocked_range<std::size_t> const all(0, n);
    team->run([&] {
      if (schedule == "auto")
        oneapi::tbb::parallel_for(all, each, oneapi::tbb::auto_partitioner());
      else if (schedule == "static")
        oneapi::tbb::parallel_for(all, each, oneapi::tbb::static_partitioner());
      else
        throw std::invalid_argument("no such partitioner: " + schedule);
    });
  };
  return {[run](std::size_t n, FillElement const& f) { run("static", n, f); }, run, run};
}

}  // namespace bench
