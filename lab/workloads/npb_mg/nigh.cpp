// SPDX-License-Identifier: Apache-2.0
// nigh's loops over planes, under three of its schedules and under the one that NIGH_SCHEDULE
// names; and its task loops over groups of planes.

#include <algorithm>
#include <cstddef>
#include <nigh/parallel_for.hpp>
#include <optional>

#include "nigh_options.hpp"
#include "npb_mg/plain_cycle.hpp"
#include "npb_mg/teams.hpp"
#include "npb_mg/tile.hpp"
#include "npb_mg/variant.hpp"

namespace npb_mg {

namespace {

// nigh's workers, as the variants that run on them need them.

class NighRuntime {
 public:
  // Without a schedule: the one that the environment names.
  NighRuntime(Team const& team, std::optional<nigh::schedule> how)
      : runtime_(workloads::nigh_options(team)) {
    loop_.how = std::move(how);
  }

  template <class Body>
  void run(Body const& body) {
    runtime_.run(body);
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    nigh::parallel_for(first, last, body, loop_);
  }

 private:
  nigh::runtime runtime_;
  nigh::loop_options loop_;
};

template <auto schedule>
class Loops : public NighRuntime {
 public:
  explicit Loops(Team const& team) : NighRuntime(team, schedule()) {}
};

using Schedule = std::optional<nigh::schedule>;
Schedule blocks() { return nigh::static_schedule(); }
Schedule adaptive() { return nigh::adaptive_schedule(); }
Schedule local() { return nigh::local_schedule(); }
Schedule unnamed() { return std::nullopt; }

std::unique_ptr<Variant> make_automatic(Team const& team) {
  return std::make_unique<OnTeams>(team, nigh::spread::automatic, 0);
}

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/static", make_one_caller<Loops<blocks>>, {}});
  list.push_back({"nigh/adaptive", make_one_caller<Loops<adaptive>>, {}});
  list.push_back({"nigh/local", make_one_caller<Loops<local>>, {}});
  list.push_back({"nigh/runtime", make_one_caller<Loops<unnamed>>, {}});
  list.push_back({"nigh/auto", make_automatic, {}});
}

namespace {

// The V-cycle in as few passes over memory as its dependences allow.
//
// On the finest level an iteration is one pass: interpolation, residual, smoothing, the next
// residual and its restriction follow each other plane by plane in cache (see tile.hpp). Neither
// residual is ever written to memory, and what was r's is where the pass writes the new u. So a
// point and iteration moves 27 bytes instead of the 118 of one operator after the other.

// Levels up to this side are run by one worker: less work than a fork.
constexpr int whole_side = 16;
// Planes of a ring beyond this are not kept in cache between two operators.
constexpr std::size_t rings_bytes = std::size_t{2} << 20;
// From this side on, u is gone from the caches before the next iteration reads it.
constexpr int past_caches_side = 256;

// Slabs of planes, one for each worker, in strips of rows. In the order of the workers' blocks, so
// that each comes back to the planes it has first touched.
std::vector<Tile> tiles_of(int n, int workers) {
  if (n <= whole_side) return {{1, n + 1, 1, n + 1}};
  std::ptrdiff_t rows = n / 2;  // a worker that is held up has something to give away
  while (rows > 8 && Rings::bytes(n, rows) > rings_bytes) rows /= 2;
  std::ptrdiff_t const slabs = std::min(workers, n / 8);
  auto const border = [&](std::ptrdiff_t slab) { return 1 + n / 2 * slab / slabs * 2; };
  std::vector<Tile> tiles;
  for (std::ptrdiff_t slab = 0; slab < slabs; ++slab)
    for (std::ptrdiff_t j = 1; j <= n; j += rows)
      tiles.push_back({j, j + rows, border(slab), border(slab + 1)});
  return tiles;
}

class Fused : public Variant {
 public:
  explicit Fused(Team const& team)
      : kernel_(*team.kernel), workers_(team.threads()), loops_(team, nigh::local_schedule()) {}

  void clear(Fields& fields) override {
    loops_.run([&] { PlainCycle<NighRuntime>::clear(loops_, fields); });
  }

  Outcome solve(Fields& fields, Weights const& smoother, int iterations) override {
    tiles_.clear();
    for (int l = 0; l < fields.levels(); ++l)
      tiles_.push_back(tiles_of(fields.level(l).n, workers_));
    sums_.resize(tiles_.back().size());
    Outcome outcome;
    loops_.run([&] { outcome = cycles(fields, smoother, iterations); });
    return outcome;
  }

 private:
  Outcome cycles(Fields& f, Weights const& smoother, int iterations) {
    int const top = f.levels() - 1;
    int const n = f.finest().n;
    auto const u = [&](int l) { return Field{f.u_data(), &f.level(l)}; };
    auto const r = [&](int l) { return Field{f.r_data(), &f.level(l)}; };
    Field const v{f.v_data(), &f.finest()};
    Field now = u(top);
    Field next = r(top);

    Outcome outcome;
    Pass first{.n = n, .kernel = &kernel_, .u = now, .v = v, .coarse = r(top - 1), .sums = true};
    outcome.first = outcome.last = run(first, top);
    for (int done = 1; done <= iterations; ++done) {
      for (int l = top - 1; l > 0; --l) restrict_to(r(l), r(l - 1));
      for (int l = 0; l < top; ++l)
        run({.n = f.level(l).n,
             .kernel = &kernel_,
             .smoother = &smoother,
             .z = l > 0 ? u(l - 1) : Field{},
             .v = r(l),
             .to = u(l)},
            l);
      Pass iteration{.n = n,
                     .kernel = &kernel_,
                     .smoother = &smoother,
                     .u = now,
                     .z = u(top - 1),
                     .v = v,
                     .to = next,
                     .past_caches = n >= past_caches_side};
      if (done < iterations)
        iteration.coarse = r(top - 1);
      else
        iteration.sums = true;
      outcome.last = run(iteration, top);
      std::swap(now, next);
    }
    outcome.solution_in_r = now.all == f.r_data();
    return outcome;
  }

  Sums run(Pass const& pass, int level) {
    auto const& tiles = tiles_[static_cast<std::size_t>(level)];
    auto const tile = [&](std::ptrdiff_t number) {
      static thread_local Rings rings;
      auto const t = static_cast<std::size_t>(number);
      Sums const sums = run_tile(pass, tiles[t], rings);
      if (pass.sums) sums_[t] = sums;
    };
    if (tiles.size() == 1)
      tile(0);
    else
      loops_(0, static_cast<std::ptrdiff_t>(tiles.size()), tile);
    Sums total;
    if (pass.sums)
      for (Sums const& s : sums_) total.add(s);
    return total;
  }

  void restrict_to(Field const& fine, Field const& coarse) {
    int const n = coarse.level->n;
    auto const plane = [&](std::ptrdiff_t k) {
      auto const above = k == n ? 1 : 2 * k + 1;
      Three const planes{fine.plane(2 * k - 1), fine.plane(2 * k), fine.plane(above)};
      restrict_rows(kernel_, planes, coarse, 1, n + 1, k);
    };
    if (n > whole_side) return loops_(1, n + 1, plane);
    for (int k = 1; k <= n; ++k) plane(k);
  }

  Kernel const& kernel_;
  int workers_;
  NighRuntime loops_;
  std::vector<std::vector<Tile>> tiles_;  // [level]
  std::vector<Sums> sums_;                // [tile of the finest level]
};

}  // namespace

void add_nigh_fused(std::vector<VariantInfo>& list) {
  list.push_back(
      {"nigh/fused",
       [](Team const& team) -> std::unique_ptr<Variant> { return std::make_unique<Fused>(team); },
       {}});
}

}  // namespace npb_mg
