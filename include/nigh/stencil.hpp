// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stencils over many time steps: tiles of points and steps instead of one sweep after the other.
//
// A sweep over a grid larger than the caches takes as long as memory needs to read and write it.
// Here a tile of the grid does several steps while it is in a cache; a tile is queued at the cache
// where it lies as soon as the tiles it needs are done (paper: Wittmann and Hager 2009, outlook).
// There is no barrier between steps. docs/stencil.md tells when that helps.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/box.hpp>
#include <nigh/detail/export.hpp>
#include <nigh/runtime.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace nigh {

namespace tasks {
struct Pool;
}

// The values beyond the grid in a dimension: some that never change, or the grid's other end.
enum class boundary : std::uint8_t { fixed, periodic };

// An array of the program, in the copy that even steps write and the one that odd steps write: for
// stencil_options::checked.
template <std::size_t D>
struct stencil_array {
  void const* even = nullptr;  // where point 0, 0(, 0) lies
  void const* odd = nullptr;   // null: there is one copy, which all steps write
  std::size_t element_bytes = sizeof(double);
  std::array<std::size_t, D> ghosts{};           // elements beyond either end of a dimension
  std::array<std::ptrdiff_t, D> stride_bytes{};  // between neighbours; 0: there are no gaps
};

template <std::size_t D>
struct stencil_shape {
  static_assert(D == 2 || D == 3, "grids of two or three dimensions");

  std::array<std::size_t, D> points{};  // the last one innermost
  std::size_t reach = 1;                // an update reads so far in each direction: the ghost width
  std::array<boundary, D> boundaries{};
  // Per point: all arrays that an update reads and writes, both copies. For the choice of tiles.
  std::size_t point_bytes = 2 * sizeof(double);
  // Where the point 0, 0(, 0) lies in the largest of these arrays, and how far apart its planes (in
  // two dimensions: rows) are, so that tiles are queued near their pages. None: as if in blocks
  // over the domains.
  void const* data = nullptr;
  std::size_t plane_bytes = 0;
  std::vector<stencil_array<D>> arrays = {};  // those that updates write
};

// Points whose values of this step are due.
template <std::size_t D>
struct stencil_piece {
  std::size_t step;
  box<D> points;
};

// In all of these, 0: chosen automatically.
struct stencil_options {
  std::size_t tile_width = 0;  // points of the first dimension; 2 x reach at least
  std::size_t tile_steps = 0;  // at least, from corner to corner: a tile has width / reach;
                               // NIGH_VERBOSE tells when that is more
  std::size_t tile_rows = 0;   // of the second dimension, that one box has
  bool plain_sweeps = false;   // no tiles: one step after the other
  bool one_at_a_time = false;  // boxes, in a fixed order: to find mistakes
  // One at a time, each followed by a check whether it wrote in one of the shape's arrays outside
  // of its box (or of the ghosts that are periodic images of it), or in the copy that it reads:
  // slow. In arrays beyond 65536 elements, ghosts included, only points within 2 x reach + 2 of the
  // box are checked. NIGH_CHECK_WRITES=1 turns it on, too. An update that takes pieces gets one at
  // a time.
  bool checked = false;
  runtime* where = nullptr;  // null: the calling worker's, in any other thread the default one
};

// How a stencil is run.
struct stencil_plan {
  bool in_tiles = false;
  bool checked = false;
  std::size_t width = 0, steps = 0, rows = 0;  // of a tile; steps from corner to corner
  std::size_t window_bytes = 0;                // what a worker has in use at a time
  std::string note;                            // why there are no tiles, though asked for
};

namespace detail {

struct stencil_need {
  std::size_t points, rows, row_points, reach, point_bytes;
  std::array<bool, 3> periodic;
  void const* data;
  std::size_t plane_bytes;
  std::size_t dimensions;
  std::vector<stencil_array<3>> arrays;  // of two dimensions: with one element in the third
};

// Planes and rows whose values of this step are due.
struct stencil_part {
  std::size_t step, plane_begin, plane_end, row_begin, row_end;
};
// At most so many are handed to an update at once.
inline constexpr std::size_t most_stencil_parts = 32;

struct stencil_work {
  void* self;
  void (*update)(void* self, std::span<stencil_part const> parts);  // may throw
  double (*norm)(void* self, stencil_part const& part);             // of the last step; null: none
};

class NIGH_API stencil_engine {
 public:
  stencil_engine(stencil_need const& need, stencil_options const& options);
  stencil_plan const& plan() const noexcept { return plan_; }
  // Steps first + 1 .. first + steps. Returns the sum of the norms.
  double run(std::size_t first, std::size_t steps, stencil_work work) const;

 private:
  double run_tiles(std::size_t first, std::size_t steps, stencil_work const& work) const;
  double run_sweeps(std::size_t first, std::size_t steps, stencil_work const& work) const;
  tasks::Pool& pool() const;
  bool one_at_a_time() const noexcept { return options_.one_at_a_time || plan_.checked; }

  stencil_need need_;
  stencil_options const options_;
  stencil_plan plan_;
};

}  // namespace detail

// A grid of which an update makes one time step after the other. The values are the program's own,
// in two copies: step s is written where s - 2 was.
//
//   nigh::stencil<3> heat({.points = {n, n, n}});
//   heat.run(100, [&](std::size_t step, nigh::box<3> const& b) {
//     auto& now = u[step % 2];
//     auto const& before = u[1 - step % 2];
//     for (auto k = b.begin[0]; k < b.end[0]; ++k) ...  now(k, j, i) = ...  before(k, j, i + 1) ...
//   });
//
// The update gets boxes in an order that gives it the values of step - 1 at all points within reach
// of the box; many threads call it at once, with boxes that do not touch. It must write no point
// outside of its box. The first step of a stencil is 1: the program provides step 0. Results do not
// depend on tiles or threads, as long as those of a point do not depend on its box.
//
// An update that takes std::span<nigh::stencil_piece<D> const> gets one or more pieces of a tile in
// a call, each a box of one step; their rows and planes differ, and two may be of the same step.
// Done in this order, each finds the values it reads. Where the last dimension's boundary is fixed,
// the update may go along that dimension with all of them instead, each `reach` points or more
// behind the one before, by index in the grid: then the values that one has written are in the
// nearest cache when the next one reads them. docs/stencil.md has an example.
//
// nigh::time_grid has memory for it, with ghosts.
template <std::size_t D>
class stencil {
 public:
  // std::invalid_argument (naming the option) for what cannot be met: no point, no reach, a tile
  // narrower than twice the reach, or with fewer steps than asked, data without the distance of its
  // planes, more than 2^40 of anything, writes to be checked where no array is named. A grid
  // smaller than a tile is swept plainly; plan().note says so, and with NIGH_VERBOSE=1 (nigh run
  // -v) a line on standard error.
  explicit stencil(stencil_shape<D> const& shape, stencil_options const& options = {})
      : shape_(shape), engine_(need(shape), options) {}

  stencil_plan const& plan() const noexcept { return engine_.plan(); }
  std::size_t steps_done() const noexcept { return done_; }

  // So many steps more. The first exception of an update is rethrown when all updates that had
  // begun have ended; then the grid is in no particular state, and steps_done() is as before.
  template <class Update>
  void run(std::size_t steps, Update const& update) {
    calls<Update, no_norm> c{*this, update, {}};
    engine_.run(done_, steps, {&c, &c.update_parts, nullptr});
    done_ += steps;
  }

  // At most so many steps more, with a check after every `every`-th: norm(step, box), called for
  // boxes that make up the grid, each after the update of its points, are added up, in an order
  // that depends on the plan only; when enough(step, sum) returns true, that was the last step.
  // Returns whether it did. All workers meet at such a step.
  template <class Update, class Norm, class Enough>
  bool run_until(std::size_t steps, std::size_t every, Update const& update, Norm const& norm,
                 Enough const& enough) {
    calls<Update, Norm> c{*this, update, norm};
    for (auto left = steps; left > 0;) {
      bool const looks = every > 0 && every <= left;
      auto const now = looks ? every : left;
      double const total =
          engine_.run(done_, now, {&c, &c.update_parts, looks ? &c.norm_part : nullptr});
      done_ += now;
      left -= now;
      if (looks && enough(done_, total)) return true;
    }
    return false;
  }

 private:
  struct no_norm {};

  template <class Update, class Norm>
  struct calls {
    stencil const& host;
    Update const& update;
    Norm const& norm;

    static void update_parts(void* self, std::span<detail::stencil_part const> parts) {
      auto const& me = *static_cast<calls const*>(self);
      if constexpr (std::is_invocable_v<Update const&, std::span<stencil_piece<D> const>>) {
        std::array<stencil_piece<D>, detail::most_stencil_parts> pieces;
        std::transform(parts.begin(), parts.end(), pieces.begin(), [&](auto const& part) {
          return stencil_piece<D>{part.step, me.host.box_of(part)};
        });
        me.update(std::span<stencil_piece<D> const>(pieces.data(), parts.size()));
      } else {
        for (auto const& part : parts) me.update(part.step, me.host.box_of(part));
      }
    }
    static double norm_part(void* self, detail::stencil_part const& part) {
      auto const& me = *static_cast<calls const*>(self);
      if constexpr (std::is_same_v<Norm, no_norm>)
        return 0;
      else
        return me.norm(part.step, me.host.box_of(part));
    }
  };

  box<D> box_of(detail::stencil_part const& part) const {
    box<D> b;
    b.begin[0] = part.plane_begin;
    b.end[0] = part.plane_end;
    b.begin[1] = part.row_begin;
    b.end[1] = part.row_end;
    if constexpr (D == 3) b.end[2] = shape_.points[2];
    return b;
  }
  static detail::stencil_need need(stencil_shape<D> const& s) {
    detail::stencil_need n{.points = s.points[0],
                           .rows = s.points[1],
                           .row_points = 1,
                           .reach = s.reach,
                           .point_bytes = s.point_bytes,
                           .periodic = {},
                           .data = s.data,
                           .plane_bytes = s.plane_bytes,
                           .dimensions = D,
                           .arrays = {}};
    if constexpr (D == 3) n.row_points = s.points[2];
    for (std::size_t d = 0; d < D; ++d) n.periodic[d] = s.boundaries[d] == boundary::periodic;
    for (auto const& a : s.arrays) {
      auto& all = n.arrays.emplace_back(
          stencil_array<3>{.even = a.even, .odd = a.odd, .element_bytes = a.element_bytes});
      std::copy(a.ghosts.begin(), a.ghosts.end(), all.ghosts.begin());
      std::copy(a.stride_bytes.begin(), a.stride_bytes.end(), all.stride_bytes.begin());
    }
    return n;
  }

  stencil_shape<D> shape_;
  detail::stencil_engine engine_;
  std::size_t done_ = 0;
};

}  // namespace nigh
