// SPDX-License-Identifier: Apache-2.0
// Two time steps a task: locality queues over tiles of many blocks, which move half the bytes.
//
// Not the algorithm of the other variants: they sweep memory once a time step, this one once in
// two. A single time step left over is swept block by block, as nigh/queues does.
#include <algorithm>
#include <nigh/array.hpp>
#include <nigh/runtime.hpp>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

// Whole blocks, about 60 rows by 100 planes of them: the more, the less is computed twice; of the
// paper's grid 60 tiles remain.
constexpr Extent preferred_tile{0, 60, 100};

std::ptrdiff_t whole_blocks(std::ptrdiff_t block, std::ptrdiff_t preferred) {
  return std::max<std::ptrdiff_t>(preferred / block, 1) * block;
}

// One for each worker, touched first by it. It grows to the largest ring asked for.
double* scratch_of_this_thread(std::size_t elements) {
  thread_local nigh::array<double> memory;
  if (memory.size() < elements) memory = nigh::array<double>(elements);
  return memory.data();
}

class OverlappedTiles : public Variant {
 public:
  explicit OverlappedTiles(Team const& team) : runtime_(options(team)) {}

  int most_steps() const override { return 2; }

  void sweep(Sweep const& s) override {
    if (s.steps == 1) return one_step(s);
    Extent const grid = s.plan->grid.interior;
    Box const block = s.plan->blocks.box(0);
    Extent const tile{grid.i, whole_blocks(block.hi.j, preferred_tile.j),
                      whole_blocks(block.hi.k, preferred_tile.k)};
    Blocks const tiles(grid, tile);
    Grid const ring({grid.i, std::min(tile.j, grid.j), ring_depth});
    runtime_.run([&] {
      for (int const n : tiles.submission(Order::kji, 1)) {
        Box const box = tiles.box(n);
        std::size_t const bytes =
            2 * sizeof(double) * Extent{box.hi.i, box.hi.j - box.lo.j, box.hi.k - box.lo.k}.sites();
        runtime_.spawn(nigh::near(home(*s.plan, block, box), bytes),
                       [&s, &ring, &tiles, &block, n] {
                         Box const mine = tiles.box(n);
                         s.kernel->two_steps(s.plan->grid, s.from, s.to, mine, ring,
                                             scratch_of_this_thread(ring.elements()));
                         for_each_block(*s.plan, block, mine, [&s](int b) { s.ran_here(b); });
                       });
      }
    });
  }

 private:
  template <class F>
  static void for_each_block(Plan const& plan, Box const& block, Box const& tile, F const& f) {
    for (auto kb = tile.lo.k / block.hi.k; kb * block.hi.k < tile.hi.k; ++kb)
      for (auto jb = tile.lo.j / block.hi.j; jb * block.hi.j < tile.hi.j; ++jb)
        for (std::ptrdiff_t ib = 0; ib < plan.blocks.along().i; ++ib)
          f(plan.blocks.number(ib, jb, kb));
  }

  // The domain that holds most of the tile's blocks.
  static int home(Plan const& plan, Box const& block, Box const& tile) {
    std::vector<int> blocks_of;
    for_each_block(plan, block, tile, [&](int b) {
      int const domain = plan.home[static_cast<std::size_t>(b)];
      if (domain < 0) return;
      auto const d = static_cast<std::size_t>(domain);
      if (d >= blocks_of.size()) blocks_of.resize(d + 1);
      ++blocks_of[d];
    });
    if (blocks_of.empty()) return nigh::near::anywhere;
    return static_cast<int>(std::max_element(blocks_of.begin(), blocks_of.end()) -
                            blocks_of.begin());
  }

  void one_step(Sweep const& s) {
    runtime_.run([this, &s] {
      for (int const b : s.plan->submission)
        runtime_.spawn(nigh::near(s.plan->home[static_cast<std::size_t>(b)], s.plan->bytes_of(b)),
                       [&s, b] { s.run(b); });
    });
  }

  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    o.pending_limit = team.pending_limit;
    return o;
  }

  nigh::runtime runtime_;
};

}  // namespace

void add_nigh_two_steps(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/two-steps",
                  false,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    return std::make_unique<OverlappedTiles>(team);
                  },
                  {}});
}

}  // namespace jacobi3d
