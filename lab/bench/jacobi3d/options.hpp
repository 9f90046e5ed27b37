// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of `nigh bench jacobi3d`.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "jacobi3d/config.hpp"
#include "jacobi3d/kernel.hpp"
#include "jacobi3d/variant.hpp"

namespace bench {

struct JacobiFlags : Flags {  // as typed
  std::string grid, block, stores = "streaming", isa, topology, pages = "auto";
  std::string variant, init = "static", order = "kji";
  std::optional<long> threads, sweeps, pending_limit;
  bool block_study = false, report = false;
};

struct JacobiOptions {  // checked
  nigh::topology machine;
  jacobi3d::Team team;
  jacobi3d::Extent grid = jacobi3d::paper_grid;
  jacobi3d::Extent block = jacobi3d::paper_block;
  jacobi3d::Kernel kernel;
  jacobi3d::VariantInfo const* variant = nullptr;  // of a single run
  jacobi3d::Init init = jacobi3d::Init::contiguous;
  jacobi3d::Order order = jacobi3d::Order::kji;
  int repetitions = 0;
  int sweeps = 0;
  bool huge_pages = false;
  std::uint64_t strip_cache_bytes = 0;

  explicit JacobiOptions(nigh::topology t) : machine(std::move(t)) {}
};

// UsageError naming the argument for what cannot be.
std::unique_ptr<JacobiOptions> check(JacobiFlags const& flags);

}  // namespace bench
