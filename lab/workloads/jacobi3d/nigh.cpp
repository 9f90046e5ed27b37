// SPDX-License-Identifier: Apache-2.0
// One nigh task a block, spawned near the block's domain by one worker.

#include <algorithm>
#include <nigh/array.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_loop.hpp>
#include <span>

#include "jacobi3d/teams.hpp"
#include "jacobi3d/tile_pieces.hpp"
#include "jacobi3d/variant.hpp"
#include "nigh_options.hpp"

namespace jacobi3d {

namespace {

template <nigh::locality mode>
class LocalityQueues : public Variant {
 public:
  explicit LocalityQueues(Team const& team) : runtime_(options(team)) {}

  void sweep(Sweep const& s) override {
    runtime_.run([this, &s] {
      for (int const block : s.plan->submission)
        runtime_.spawn(
            nigh::near(s.plan->home[static_cast<std::size_t>(block)], s.plan->bytes_of(block)),
            [&s, block] { s.run(block); });
    });
  }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    o.mode = mode;
    o.pending_limit = team.pending_limit;
    return o;
  }

  nigh::runtime runtime_;
};

template <nigh::locality mode>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<LocalityQueues<mode>>(team);
}

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/queues", true, make<nigh::locality::prefer>, {}});
  list.push_back({"nigh/queues-strict", true, make<nigh::locality::strict>, {}});
}

namespace {

// A nigh loop over the rows of blocks, by several schedules.

template <nigh::schedule_kind kind>
class Loop : public Variant {
 public:
  explicit Loop(Team const& team) : runtime_(options(team)) {
    how_.how = nigh::schedule(kind, 1);
    how_.where = &runtime_;
  }

  void sweep(Sweep const& s) override {
    Blocks const& blocks = s.plan->blocks;
    Extent const along = blocks.along();
    nigh::box<2> const rows{{0, 0},
                            {static_cast<std::size_t>(along.k), static_cast<std::size_t>(along.j)}};
    nigh::parallel_for(
        rows,
        [&](std::size_t kb, std::size_t jb) {
          for (std::ptrdiff_t ib = 0; ib < along.i; ++ib)
            s.run(blocks.number(ib, static_cast<std::ptrdiff_t>(jb),
                                static_cast<std::ptrdiff_t>(kb)));
        },
        how_);
  }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    return o;
  }

  nigh::runtime runtime_;
  nigh::loop_options how_;
};

template <nigh::schedule_kind kind>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<Loop<kind>>(team);
}

}  // namespace

void add_nigh_loops(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/loop-static", false, make<nigh::schedule_kind::static_blocks>, {}});
  list.push_back({"nigh/loop-local", false, make<nigh::schedule_kind::local>, {}});
  list.push_back({"nigh/loop-adaptive", false, make<nigh::schedule_kind::adaptive>, {}});
}

// A task loop over the layers of blocks; a team shares the rows of blocks of its layer.

OnTeams::OnTeams(Team const& team, nigh::spread spread, int active)
    : runtime_(workloads::nigh_options(team)), spreads_(spread, active) {}

void OnTeams::sweep(Sweep const& s) {
  Blocks const& blocks = s.plan->blocks;
  Extent const along = blocks.along();
  nigh::task_loop_options options = spreads_.of({});
  options.where = &runtime_;
  nigh::task_loop(
      static_cast<std::size_t>(along.k),
      [&](std::size_t layer, nigh::team const& team) {
        team.parallel_for(std::ptrdiff_t{0}, along.j, [&](std::ptrdiff_t row) {
          for (std::ptrdiff_t i = 0; i < along.i; ++i)
            s.run(blocks.number(i, row, static_cast<std::ptrdiff_t>(layer)));
        });
      },
      options);
}

void add_nigh_teams(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/auto",
                  false,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    return std::make_unique<OnTeams>(team, nigh::spread::automatic, 0);
                  },
                  {}});
}

namespace {

// Two time steps a task: locality queues over tiles of many blocks, which move half the bytes.
//
// Not the algorithm of the other variants: they sweep memory once a time step, this one once in
// two. A single time step left over is swept block by block, as nigh/queues does.

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

namespace {

// Tiles of planes and steps, queued at the cache that holds them.

class TimeTiles : public Variant {
 public:
  explicit TimeTiles(Team const& team) : runtime_(options(team)) {}

  int most_steps() const override { return 1 << 20; }
  bool ends_in_place(int steps) const override { return steps % 2 == 0; }

  void sweep(Sweep const& s) override { sweep_in_tiles(s, {.where = &runtime_}); }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    o.queue_level = nigh::level::l3;
    return o;
  }

  nigh::runtime runtime_;
};

// A block counts as run by whoever writes its first row in its first plane last.
void count_blocks(Sweep const& s, nigh::box<3> const& b) {
  Extent const block = s.plan->blocks.box(0).hi;
  auto const first = [](std::size_t from, std::ptrdiff_t size) {
    return (static_cast<std::ptrdiff_t>(from) + size - 1) / size;
  };
  for (auto k = first(b.begin[0], block.k); k * block.k < static_cast<std::ptrdiff_t>(b.end[0]);
       ++k)
    for (auto j = first(b.begin[1], block.j); j * block.j < static_cast<std::ptrdiff_t>(b.end[1]);
         ++j)
      for (std::ptrdiff_t i = 0; i < s.plan->blocks.along().i; ++i)
        s.ran_here(s.plan->blocks.number(i, j, k));
}

nigh::stencil_array<3> fields(Sweep const& s) {
  Grid const& grid = s.plan->grid;
  constexpr std::ptrdiff_t bytes = sizeof(double);
  return {.even = s.from + grid.at(0, 0, 0),
          .odd = s.to + grid.at(0, 0, 0),
          .ghosts = {1, 1, 1},
          .stride_bytes = {grid.plane_pitch * bytes, grid.row_pitch * bytes, bytes}};
}

}  // namespace

nigh::stencil_plan sweep_in_tiles(Sweep const& s, nigh::stencil_options const& options) {
  Grid const& grid = s.plan->grid;
  auto const size = [](std::ptrdiff_t n) { return static_cast<std::size_t>(n); };
  nigh::stencil<3> stencil(
      {.points = {size(grid.interior.k), size(grid.interior.j), size(grid.interior.i)},
       .data = s.from + grid.at(0, 0, 0),
       .plane_bytes = size(grid.plane_pitch) * sizeof(double),
       .arrays = {fields(s)}},
      options);
  stencil.run(size(s.steps), [&](std::span<nigh::stencil_piece<3> const> pieces) {
    auto const at = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    TilePieces list(s);
    for (auto const& [step, b] : pieces) {
      list.add(at(step), {{at(b.begin[2]), at(b.begin[1]), at(b.begin[0])},
                          {at(b.end[2]), at(b.end[1]), at(b.end[0])}});
      if (s.ran_in != nullptr) count_blocks(s, b);
    }
    list.run();
  });
  return stencil.plan();
}

void add_nigh_temporal(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/temporal",
                  false,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    return std::make_unique<TimeTiles>(team);
                  },
                  {}});
}

}  // namespace jacobi3d
