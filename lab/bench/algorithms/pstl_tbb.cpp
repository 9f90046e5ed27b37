// SPDX-License-Identifier: Apache-2.0
// The standard's algorithms with their policies, on oneTBB, which is what libstdc++ has for them.
#include "bench/algorithms/calls.hpp"

#if defined(NIGH_WITH_TBB)
#include <execution>
#include <memory>

#include "bench/algorithms/standard_calls.hpp"
#include "bench/pin.hpp"
#include "workloads/team.hpp"

namespace bench::algorithms {

Library pstl_tbb_library(std::vector<int> const& cpus) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  std::shared_ptr<workloads::Team> const team = workloads::make_tbb_team(options);
  auto const how = std::execution::par;
  return {"std/tbb",
          "",
          [team](std::function<void()> const& body) { team->run(body); },
          standard_calls<double>(how),
          standard_calls<std::int32_t>(how),
          standard_calls<Record>(how)};
}

}  // namespace bench::algorithms
#else
namespace bench::algorithms {

Library pstl_tbb_library(std::vector<int> const&) {
  return {.name = "std/tbb", .absent = "oneTBB was not found when this was built"};
}

}  // namespace bench::algorithms
#endif
