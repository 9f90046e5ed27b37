// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random numbers that are the same everywhere: the generator is the standard's, the distributions
// are written out, for the standard library's differ from one to the next.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace nigh::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // [0, 1)
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  std::uint32_t bits() { return static_cast<std::uint32_t>(engine_() >> 32); }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }

  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace nigh::sim
