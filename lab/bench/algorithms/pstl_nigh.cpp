// SPDX-License-Identifier: Apache-2.0
// The standard's algorithms with their policies, on nigh: compiled with -include nigh/pstl.hpp.
#include <execution>
#include <memory>
#include <nigh/runtime.hpp>

#include "bench/algorithms/standard_calls.hpp"

namespace bench::algorithms {

Library pstl_nigh_library(std::vector<int> const& cpus) {
  nigh::runtime_options options;
  options.cpus = cpus;
  auto const runtime = std::make_shared<nigh::runtime>(options);
  auto const how = std::execution::par;
  return {"std/nigh",
          "",
          [runtime](std::function<void()> const& body) { runtime->run(body); },
          standard_calls<double>(how),
          standard_calls<std::int32_t>(how),
          standard_calls<Record>(how)};
}

}  // namespace bench::algorithms
