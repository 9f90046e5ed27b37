// SPDX-License-Identifier: Apache-2.0
#pragma once
// A variant is one way to run the blocks of a sweep in parallel. All of them call the same kernel
// on the same blocks.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nigh/stencil.hpp>
#include <nigh/topology.hpp>
#include <span>
#include <string>
#include <vector>

#include "jacobi3d/grid.hpp"
#include "jacobi3d/kernel.hpp"

namespace jacobi3d {

// Threads to run on, the same for every variant.
struct Team {
  nigh::topology const* machine = nullptr;
  std::vector<int> cpus;           // of thread t; as many as threads
  bool (*pin)(int cpu) = nullptr;  // pins the calling thread; null: leave threads where they are
  std::size_t pending_limit = 0;   // tasks that may wait in nigh's queues, 0: as many as fit

  int threads() const noexcept { return static_cast<int>(cpus.size()); }
  void pin_thread(int thread) const {
    if (pin != nullptr) pin(cpus[static_cast<std::size_t>(thread)]);
  }
};

// The blocks of one grid, and where they live.
struct Plan {
  Grid grid;
  Blocks blocks;
  std::vector<int> home;        // [block]: domain that holds it
  std::vector<int> submission;  // block numbers in the order tasks are made

  std::size_t bytes_of(int block) const noexcept {  // read and written
    Box const b = blocks.box(block);
    return 2 * sizeof(double) * Extent{b.hi.i - b.lo.i, b.hi.j - b.lo.j, b.hi.k - b.lo.k}.sites();
  }
};

struct Sweep {
  Plan const* plan = nullptr;
  Kernel const* kernel = nullptr;
  double* from = nullptr;  // variants that take several steps may write here, too
  double* to = nullptr;
  int steps = 1;  // time steps this sweep takes, no more than the variant can
  nigh::topology const* machine = nullptr;
  std::int16_t* ran_in = nullptr;  // [block]: set to the domain whose cpu ran it; null: not asked
  // [(step - 1) x planes + plane]: the same of who wrote its first row. By variants with tiles
  // only.
  std::int16_t* wrote_in = nullptr;

  void run(int block) const {
    kernel->sweep_block(plan->grid, from, to, plan->blocks.box(block));
    ran_here(block);
  }
  void ran_here(int block) const {
    if (ran_in != nullptr) ran_in[block] = here();
  }
  // Steps from 1.
  void wrote_here(std::int64_t step, Box const& box) const {
    if (wrote_in == nullptr || box.lo.j > 0) return;
    auto* const of_step = wrote_in + (step - 1) * plan->grid.interior.k;
    std::fill(of_step + box.lo.k, of_step + box.hi.k, here());
  }

 private:
  std::int16_t here() const {
    return static_cast<std::int16_t>(machine->domain_of_cpu(nigh::current_cpu()));
  }
};

class Variant {
 public:
  virtual ~Variant() = default;
  virtual int most_steps() const { return 1; }  // that one sweep may take
  // Is the field in `from` after a sweep of so many steps? Else it is in `to`.
  virtual bool ends_in_place(int /*steps*/) const { return false; }
  virtual void sweep(Sweep const& sweep) = 0;  // returns when every block has been run once
};

struct VariantInfo {
  std::string name;       // "openmp-gcc/static"
  bool by_tasks = false;  // makes one task a block, so the submission order matters
  std::unique_ptr<Variant> (*make)(Team const&) = nullptr;  // null: absent
  std::string why_absent;
};

// All variants, absent peers included, in the order tables show them.
std::vector<VariantInfo> const& variants();

// By its name; "openmp/..." stands for whichever compiler's OpenMP is there.
VariantInfo const* find_variant(std::string_view name);

// One function per file that adds variants.
void add_serial(std::vector<VariantInfo>& list);
void add_openmp_worksharing(std::vector<VariantInfo>& list);
void add_openmp_tasks(std::vector<VariantInfo>& list);
void add_openmp_locality_queues(std::vector<VariantInfo>& list);
void add_tbb(std::vector<VariantInfo>& list);
void add_nigh(std::vector<VariantInfo>& list);
void add_nigh_loops(std::vector<VariantInfo>& list);
void add_nigh_teams(std::vector<VariantInfo>& list);
void add_nigh_two_steps(std::vector<VariantInfo>& list);
void add_nigh_temporal(std::vector<VariantInfo>& list);

// Several time steps in tiles (nigh::stencil).

// The sweep's steps; the result is in s.to if they are odd, else in s.from. Returns how it was
// done.
nigh::stencil_plan sweep_in_tiles(Sweep const& s, nigh::stencil_options const& options);

}  // namespace jacobi3d
