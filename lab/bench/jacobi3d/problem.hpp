// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two fields in memory, placed by an init rule, and sweeps over them.

#include <nigh/array.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/pinned_threads.hpp"
#include "jacobi3d/grid.hpp"
#include "jacobi3d/kernel.hpp"
#include "jacobi3d/variant.hpp"

namespace bench {

// The options of `nigh bench jacobi3d`.

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

// "600x10x10"
std::string extent_text(jacobi3d::Extent const& e);

// UsageError naming the argument for what cannot be.
std::unique_ptr<JacobiOptions> check(JacobiFlags const& flags);

// How blocks and threads met: blocks run in the domain that holds them, and elsewhere.
struct BlockCounts {
  long local = 0, remote = 0, unknown = 0;

  double remote_share() const noexcept {
    return local + remote == 0 ? 0
                               : static_cast<double>(remote) / static_cast<double>(local + remote);
  }
};

class Problem {
 public:
  // Maps both fields; the pinned threads touch their pages as `init` says. Throws std::bad_alloc
  // with the bytes asked and available.
  Problem(JacobiOptions const& options, jacobi3d::Init init, PinnedThreads& pinned);

  jacobi3d::Plan const& plan() const noexcept { return plan_; }
  double* first() noexcept { return fields_.data(); }
  double* second() noexcept { return fields_.data() + second_at_; }
  std::size_t elements() const noexcept { return plan_.grid.elements(); }
  nigh::page_report pages() const { return fields_.report(); }

  void submit_in(jacobi3d::Order order);
  void refill();  // the first field gets its initial values again; pages stay

  // Seconds for so many time steps from the first field into the second and back, and so on. Where
  // blocks run is looked up for each of them (some 10 ns); without it, `count` is false. wrote_in:
  // see Sweep.
  double run(jacobi3d::Variant& variant, jacobi3d::Kernel const& kernel, int sweeps,
             bool count = true, std::int16_t* wrote_in = nullptr);
  BlockCounts const& blocks_run() const noexcept { return blocks_run_; }  // by the last run()

  void run_reference(int sweeps);
  std::uint64_t checksum();  // of the field the last run left its result in

 private:
  JacobiOptions const& options_;
  PinnedThreads& pinned_;
  jacobi3d::Plan plan_;
  std::vector<int> toucher_;  // [layer]: thread
  std::size_t second_at_ = 0;
  nigh::array<double> fields_;
  // Where the kernel says a block's middle is; -1 when it does not say.
  std::vector<int> home_by_kernel_;
  std::vector<std::int16_t> ran_in_;
  BlockCounts blocks_run_;
  double const* result_ = nullptr;

  void find_homes();
  void count_blocks();
};

}  // namespace bench
