// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/algorithms/standard_calls.hpp"

namespace bench::algorithms {

namespace {

template <class T>
Calls<T> serial_calls() {
  Calls<T> calls = standard_calls<T>();
  calls.push_back({"histogram", [](Arrays<T> const& a) {
                     std::array<std::int64_t, bins> counts{};
                     std::for_each(a.data, a.end(), [&](T const& x) { ++counts[Bin()(x)]; });
                     return found_counts(counts);
                   }});
  calls.push_back({"sort_by_key", [](Arrays<T> const& a) {
                     std::vector<std::pair<T, T>> pairs(a.n);
                     for (std::size_t i = 0; i < a.n; ++i) pairs[i] = {a.data[i], a.out[i]};
                     std::sort(pairs.begin(), pairs.end(),
                               [](auto const& x, auto const& y) { return x.first < y.first; });
                     for (std::size_t i = 0; i < a.n; ++i) std::tie(a.data[i], a.out[i]) = pairs[i];
                     return std::int64_t{0};
                   }});
  return calls;
}

}  // namespace

Library serial_library() {
  return {"serial",
          "",
          [](std::function<void()> const& body) { body(); },
          serial_calls<double>(),
          serial_calls<std::int32_t>(),
          serial_calls<Record>()};
}

}  // namespace bench::algorithms
