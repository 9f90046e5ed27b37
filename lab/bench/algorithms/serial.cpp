// SPDX-License-Identifier: Apache-2.0
#include "bench/algorithms/standard_calls.hpp"

namespace bench::algorithms {

Library serial_library() {
  return {"serial",
          "",
          [](std::function<void()> const& body) { body(); },
          standard_calls<double>(),
          standard_calls<std::int32_t>(),
          standard_calls<Record>()};
}

}  // namespace bench::algorithms
