// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two time steps over one tile, for the files that compile it for one instruction set each; as in
// kernel_body.hpp, everything has internal linkage and no inline function of a library is called.
//
// Overlapped temporal tiling. A tile is a box of whole rows. Step one of the rows and planes of
// the tile, and of one more on each side, goes into a ring of planes that stays in cache; step two
// goes from there to the destination. So two updates of a site cost memory one read and one write,
// and neighbouring tiles compute the rows between them twice instead of waiting for one another:
//
//   plane   k-1  k  k+1 ... k+depth-1  k+depth
//   step 1   .   .  [------- now -----------]      source -> ring, row j
//   step 2       [------- now -------]             ring -> destination, row j-1
//
// Both steps do the arithmetic of update_site in its order, so the bits are those of two sweeps.
// Measured: the deeper the slab, the better, although its ring no longer fits into L2 (depth 12
// and 60 rows: 4 MiB); shallow slabs that fit wait for memory with too few requests in flight.

#include "jacobi3d/kernel.hpp"
#include "jacobi3d/kernel_body.hpp"

namespace jacobi3d {
namespace {

constexpr std::ptrdiff_t rows_ahead = 14 * Grid::line;  // of a row, asked for and not yet used

struct Tile {
  Grid const& grid;
  double const* from;
  double* to;
  Box box;
  Grid const& ring_grid;  // row and plane -1 and beyond its interior are used as any other
  double* ring_start;

  std::ptrdiff_t site(std::ptrdiff_t j, std::ptrdiff_t k) const noexcept {
    return (k + 1) * grid.plane_pitch + (j + 1) * grid.row_pitch + Grid::line;
  }
  double* ring(std::ptrdiff_t j, std::ptrdiff_t k) const noexcept {
    std::ptrdiff_t const slot = (k - box.lo.k + 1) % (ring_grid.interior.k + 2);
    return ring_start + slot * ring_grid.plane_pitch + (j - box.lo.j + 1) * ring_grid.row_pitch +
           Grid::line;
  }
};

template <int depth>
struct Rows {
  double const*
      from[static_cast<unsigned>(depth) + 2];  // the row in each plane from one below to one above
  double* to[static_cast<unsigned>(depth)];
  double const* soon[static_cast<unsigned>(depth) + 2];  // rows to ask for meanwhile
};

template <class Vec, bool streaming, bool asking, int depth>
[[gnu::always_inline]] inline void update_rows(Rows<depth> const& r, std::ptrdiff_t row,
                                               std::ptrdiff_t n) noexcept {
  auto const a = Vec::broadcast(c1);
  auto const b = Vec::broadcast(c2);
  std::ptrdiff_t const lines_end = n / Grid::line * Grid::line;
  for (std::ptrdiff_t i = 0; i < lines_end; i += Vec::width) {
    if (asking && i % Grid::line == 0) {
#pragma GCC unroll 32
      for (int d = 0; d < depth + 2; ++d) __builtin_prefetch(r.soon[d] + i);
    }
    typename Vec::type centre[static_cast<unsigned>(depth) + 2];
#pragma GCC unroll 32
    for (int d = 0; d < depth + 2; ++d) centre[d] = Vec::load(r.from[d] + i);
#pragma GCC unroll 32
    for (int d = 0; d < depth; ++d) {
      double const* const q = r.from[d + 1] + i;
      auto const lower = Vec::load(q - row) + centre[d];
      auto const upper = Vec::load(q + row) + centre[d + 2];
      auto const sum = (Vec::load_unaligned(q - 1) + Vec::load_unaligned(q + 1)) + (lower + upper);
      auto const value = a * centre[d + 1] + b * sum;
      if constexpr (streaming)
        Vec::stream(r.to[d] + i, value);
      else
        Vec::store(r.to[d] + i, value);
    }
  }
  for (int d = 0; d < depth; ++d)
    for (std::ptrdiff_t i = lines_end; i < n; ++i) {
      double const* const q = r.from[d + 1] + i;
      double const sum = (q[-1] + q[1]) + ((q[-row] + r.from[d][i]) + (q[row] + r.from[d + 2][i]));
      r.to[d][i] = c1 * q[0] + c2 * sum;
    }
}

// Row j of the planes [k, k + depth), from the source into the ring. The boundary is fixed, so
// what lies on it goes over as it is.
template <class Vec, int depth>
void step_one(Tile const& t, std::ptrdiff_t j, std::ptrdiff_t k) noexcept {
  auto const [ni, nj, nk] = t.grid.interior;
  bool const inside = j >= 0 && j < nj && k >= 0 && k + depth <= nk;
  if constexpr (depth > 1) {
    if (!inside) {
      for (int d = 0; d < depth; ++d) step_one<Vec, 1>(t, j, k + d);
      return;
    }
  }
  if (!inside) {
    double const* const f = t.from + t.site(j, k);
    double* const r = t.ring(j, k);
    for (std::ptrdiff_t i = -1; i <= ni; ++i) r[i] = f[i];
    return;
  }
  Rows<depth> rows;
  for (int d = 0; d < depth + 2; ++d) {
    rows.from[d] = t.from + t.site(j, k - 1 + d);
    rows.soon[d] = rows.from[d] + t.grid.row_pitch + rows_ahead;
  }
  for (int d = 0; d < depth; ++d) rows.to[d] = t.ring(j, k + d);
  update_rows<Vec, false, true, depth>(rows, t.grid.row_pitch, ni);
  for (int d = 0; d < depth; ++d) {
    rows.to[d][-1] = rows.from[d + 1][-1];
    rows.to[d][ni] = rows.from[d + 1][ni];
  }
}

// Row j of the planes [k, k + depth), from the ring into the destination. During the tile's last
// three rows it asks for the first three that step one of the next slab needs.
template <class Vec, bool streaming, int depth>
void step_two(Tile const& t, std::ptrdiff_t j, std::ptrdiff_t k) noexcept {
  Rows<depth> rows;
  for (int d = 0; d < depth + 2; ++d) rows.from[d] = t.ring(j, k - 1 + d);
  for (int d = 0; d < depth; ++d) rows.to[d] = t.to + t.site(j, k + d);
  std::ptrdiff_t const first = t.box.lo.j - 2 + (j - (t.box.hi.j - 3));
  if (first >= t.box.lo.j - 2 && first >= -1 && k + depth < t.box.hi.k) {
    for (int d = 0; d < depth + 2; ++d) {
      std::ptrdiff_t const plane = k + depth + 1 + d;
      rows.soon[d] = t.from + t.site(first, plane < t.grid.interior.k ? plane : t.grid.interior.k);
    }
    update_rows<Vec, streaming, true, depth>(rows, t.ring_grid.row_pitch, t.grid.interior.i);
  } else {
    update_rows<Vec, streaming, false, depth>(rows, t.ring_grid.row_pitch, t.grid.interior.i);
  }
}

template <class Vec, bool streaming, int depth>
void two_steps_of_slab(Tile const& t, std::ptrdiff_t k) noexcept {
  for (std::ptrdiff_t j = t.box.lo.j - 1; j <= t.box.hi.j; ++j) {
    step_one<Vec, depth>(t, j, k + 1);
    if (j > t.box.lo.j) step_two<Vec, streaming, depth>(t, j - 1, k);
  }
}

template <class Vec, bool streaming>
void two_steps(Grid const& grid, double const* from, double* to, Box const& box, Grid const& ring,
               double* scratch) noexcept {
  Tile const t{grid, from, to, box, ring, scratch};
  for (std::ptrdiff_t j = box.lo.j - 1; j <= box.hi.j; ++j) {
    step_one<Vec, 1>(t, j, box.lo.k - 1);
    step_one<Vec, 1>(t, j, box.lo.k);
  }
  std::ptrdiff_t k = box.lo.k;
  for (; box.hi.k - k >= ring_depth; k += ring_depth)
    two_steps_of_slab<Vec, streaming, ring_depth>(t, k);
  for (; box.hi.k - k >= 4; k += 4) two_steps_of_slab<Vec, streaming, 4>(t, k);
  for (; box.hi.k - k >= 1; k += 1) two_steps_of_slab<Vec, streaming, 1>(t, k);
  if constexpr (streaming) Vec::fence();
}

}  // namespace
}  // namespace jacobi3d
