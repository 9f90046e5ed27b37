// SPDX-License-Identifier: Apache-2.0
// OpenMP: a loop over blocks, the paper's loop over the rows of one block, and both, nested.
#include <omp.h>

#include <algorithm>

#include "jacobi2d/variant.hpp"

namespace jacobi2d {

namespace {

// Runtimes keep their threads, and the numbers of them, from region to region as long as the number
// of threads does not change. So it is enough to pin them once; but not those of nested regions.
void pin_team(Team const& team) {
#pragma omp parallel num_threads(team.threads())
  team.pin_thread(omp_get_thread_num());
}

// A step of a block by `threads` threads; each calls here(number) first.
template <class Here>
void step_by(Work& work, int block, int step, int threads, RowSchedule const& how,
             Here const& here) {
  int const n = work.points();
#pragma omp parallel num_threads(threads)
  {
    here(omp_get_thread_num());
    if (how.collapse) {
#pragma omp for collapse(2) schedule(static) nowait
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; column += strip)
          work.tile(block, step, {row, row + 1, column, std::min(column + strip, n)});
    } else if (how.chunk > 0) {
#pragma omp for schedule(static, how.chunk) nowait
      for (int row = 0; row < n; ++row) work.rows(block, step, row, row + 1);
    } else {
#pragma omp for schedule(static) nowait
      for (int row = 0; row < n; ++row) work.rows(block, step, row, row + 1);
    }
  }
}

class OverBlocks : public Variant {
 public:
  explicit OverBlocks(Team const& team) : threads_(team.threads()) { pin_team(team); }

  void run(Work& work) override {
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (int block = 0; block < work.blocks(); ++block) {
      work.begin(block);
      for (int step = 0; step < work.steps(); ++step) work.rows(block, step, 0, work.points());
      work.end(block);
    }
  }

 private:
  int threads_;
};

class OverRows : public Variant {
 public:
  explicit OverRows(Team const& team) : threads_(team.threads()), rows_(team.rows) {
    pin_team(team);
  }

  void run(Work& work) override {
    for (int block = 0; block < work.blocks(); ++block) {
      work.begin(block);
      for (int step = 0; step < work.steps(); ++step)
        step_by(work, block, step, threads_, rows_, [](int) {});
      work.end(block);
    }
  }

 private:
  int threads_;
  RowSchedule rows_;
};

// Leaders share the blocks, each with members for the rows of its own. As few teams of at most
// `spread` threads as there can be, their sizes as even as possible.
class Nested : public Variant {
 public:
  explicit Nested(Team const& team)
      : team_(team), teams_((team.threads() + team.spread - 1) / team.spread) {
    omp_set_max_active_levels(2);
  }

  void run(Work& work) override {
#pragma omp parallel num_threads(teams_)
    {
      int const me = omp_get_thread_num();
      int const first = me * team_.threads() / teams_;
      int const size = (me + 1) * team_.threads() / teams_ - first;
      auto const pin = [&](int member) {  // whose thread may be another one each time
        static thread_local int pinned_to = -1;
        if (int const thread = first + member; pinned_to != thread) {
          team_.pin_thread(thread);
          pinned_to = thread;
        }
      };
      pin(0);
#pragma omp for schedule(static)
      for (int block = 0; block < work.blocks(); ++block) {
        work.begin(block);
        for (int step = 0; step < work.steps(); ++step)
          step_by(work, block, step, size, team_.rows, pin);
        work.end(block);
      }
    }
  }

 private:
  Team team_;
  int teams_;
};

template <class Way>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<Way>(team);
}

std::string named(char const* way) {
#if defined(__clang__)
  return std::string("openmp-clang/") + way;
#else
  return std::string("openmp-gcc/") + way;
#endif
}

}  // namespace

void add_openmp(std::vector<VariantInfo>& list) {
  list.push_back({.name = named("blocks"), .make = make<OverBlocks>});
  list.push_back({.name = named("rows"), .by_rows = true, .make = make<OverRows>});
  list.push_back(
      {.name = named("nested"), .by_spread = true, .by_rows = true, .make = make<Nested>});
}

}  // namespace jacobi2d
