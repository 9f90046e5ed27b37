// SPDX-License-Identifier: Apache-2.0
#pragma once
// An instance whose answer is the number it was asked for.

#include "workloads/families.hpp"

namespace workloads {

template <class Config, auto serial, auto openmp, auto tbb, auto nigh>
class Counting : public Instance {
 public:
  Counting(Config config, Answer expected, std::uint64_t spawns)
      : config_(config), expected_(expected), spawns_(spawns) {}

  void solve(Family family) override { found_ = call<serial, openmp, tbb, nigh>(family, config_); }
  Answer answer() const override { return found_; }
  Answer expected() override { return expected_; }
  std::uint64_t spawns() const override { return spawns_; }

 private:
  Config config_;
  Answer expected_;
  std::uint64_t spawns_;
  Answer found_ = 0;
};

}  // namespace workloads
