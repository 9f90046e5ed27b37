// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checked options of `nigh bench spread`.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/spread/setting.hpp"

namespace bench {

struct SpreadOptions {
  explicit SpreadOptions(nigh::topology m) : machine(std::move(m)) {}

  nigh::topology machine;
  std::vector<jacobi2d::VariantInfo const*> variants;
  std::vector<int> spreads, actives;  // ascending
  std::vector<jacobi2d::RowSchedule> rows;
  int threads = 1, repetitions = 5;
  jacobi2d::Kernel const* kernel = nullptr;

  // Block size by spread: problems of about the same number of points.
  std::vector<jacobi2d::Problem> grid;
  // Blocks around the caches' sizes, worked on several times a visit.
  std::vector<jacobi2d::Problem> cache;
  std::size_t l2_bytes = 0, l3_bytes = 0;  // 0: not known
  int l3_sharers = 1;                      // of these threads, on one L3
  int l2_caches = 1;                       // that these threads have

  bool programs = false;  // the others' task loops too
  bool quick = false;

  std::vector<std::string> left_out;
};

}  // namespace bench
