// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/tile.hpp"

#include <algorithm>
#include <cstdint>

namespace npb_mg {

namespace {

constexpr std::ptrdiff_t rows_below = 3, rows_above = 4;  // a tile, at most
constexpr std::ptrdiff_t tail = 4 * line;                 // read beyond the last row

Layout ring_layout(int n, std::ptrdiff_t rows) noexcept {
  return Layout(n, rows + rows_below + rows_above);
}

class TilePass {
 public:
  TilePass(Pass const& pass, Tile const& tile, Rings& rings)
      : p_(pass), kernel_(*pass.kernel), n_(pass.n), t_(tile), rings_(rings) {}

  Sums run() {
    bool const again = p_.coarse || p_.sums;
    // Of x: what r' needs around the tile, and one row and plane more, which the last coarse points
    // reach for.
    std::ptrdiff_t const below = again ? 1 : 0;
    std::ptrdiff_t const above = again ? 2 : 0;
    Tile const x{t_.j0 - below, t_.j1 + above, t_.k0 - below, t_.k1 + above};
    Sums sums;
    for (auto k = x.k0 - 2; k < x.k1 + 2; ++k) {
      if (p_.smoother != nullptr) {
        interpolate(k, x.j0 - 2, x.j1 + 2, rings_.w.plane(k));
        if (k >= x.k0) residual(k - 1, x.j0 - 1, x.j1 + 1, rings_.w, rings_.r);
        if (k - 2 >= x.k0) smooth(k - 2, x.j0, x.j1, again);
      } else if (k - 2 >= x.k0) {
        interpolate(k - 2, x.j0, x.j1, rings_.x.plane(k - 2));
      }
      if (again && k - 3 >= t_.k0 && k - 3 <= t_.k1) residual_of_x(k - 3, sums);
    }
    return sums;
  }

 private:
  // 1 .. n
  std::ptrdiff_t wrapped(std::ptrdiff_t index) const noexcept {
    std::ptrdiff_t const m = (index - 1) % n_;
    return (m < 0 ? m + n_ : m) + 1;
  }

  // Calls body(first, last, shift) for the runs of rows that are consecutive in memory as well, the
  // row j at j + shift.
  template <class Body>
  void for_runs(std::ptrdiff_t j0, std::ptrdiff_t j1, Body const& body) const {
    for (auto j = j0; j < j1;) {
      auto const at = wrapped(j);
      auto const last = std::min(j1, j + (n_ + 1 - at));
      body(j, last, at - j);
      j = last;
    }
  }

  void prefetch(double const* row) const noexcept {
    for (std::ptrdiff_t i = 0; i < n_; i += line) __builtin_prefetch(row + i, 0, 2);
  }

  void interpolate(std::ptrdiff_t k, std::ptrdiff_t j0, std::ptrdiff_t j1, Out out) {
    auto const kw = wrapped(k);
    Out const u = p_.u ? p_.u.plane(kw) : Out{};
    for (auto j = j0; j < j1; ++j) {
      auto const jw = wrapped(j);
      double const* const u_row = p_.u ? u[jw] : nullptr;
      if (p_.u) prefetch(p_.u.plane(wrapped(k + 1))[jw]);
      prefetch(p_.v.plane(kw)[jw]);
      if (p_.z) {
        int const half = n_ / 2;  // the coarse ghosts are not there
        CoarseRows const z(jw, kw, half, [&](std::ptrdiff_t kc) { return p_.z.plane(kc); });
        kernel_.prolong(n_, z.rows(), u_row, out[j]);
      } else if (u_row != nullptr) {
        std::copy(u_row, u_row + n_, out[j]);
        out[j][-1] = u_row[n_ - 1];
        out[j][n_] = u_row[0];
      } else {
        std::fill(out[j] - 1, out[j] + n_ + 1, 0.0);
      }
    }
  }

  void residual(std::ptrdiff_t k, std::ptrdiff_t j0, std::ptrdiff_t j1, Rings::Ring const& of,
                Rings::Ring const& into) {
    Out const v = p_.v.plane(wrapped(k));
    Three const around = of.around(k);
    Out const out = into.plane(k);
    for_runs(j0, j1, [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t shift) {
      kernel_.residual(n_, first, last, around, v.shifted(shift), out);
    });
  }

  void smooth(std::ptrdiff_t k, std::ptrdiff_t j0, std::ptrdiff_t j1, bool keep) {
    Three const r = rings_.r.around(k);
    In const w = rings_.w.plane(k);
    bool const ours = k >= t_.k0 && k < t_.k1;
    Out const to = p_.to.plane(wrapped(k));
    if (!keep) return kernel_.smooth(n_, j0, j1, *p_.smoother, r, w, to, {});
    Out const x = rings_.x.plane(k);
    if (!ours) return kernel_.smooth(n_, j0, j1, *p_.smoother, r, w, x, {});
    kernel_.smooth(n_, j0, t_.j0, *p_.smoother, r, w, x, {});
    kernel_.smooth(n_, t_.j0, t_.j1, *p_.smoother, r, w, x, p_.past_caches ? to : Out{});
    kernel_.smooth(n_, t_.j1, j1, *p_.smoother, r, w, x, {});
    if (!p_.past_caches)
      for (auto j = t_.j0; j < t_.j1; ++j) std::copy(x[j] - 1, x[j] + n_ + 1, to[j] - 1);
  }

  void residual_of_x(std::ptrdiff_t k, Sums& sums) {
    residual(k, t_.j0, t_.j1 + 1, rings_.x, rings_.q);
    if (p_.sums && k < t_.k1) sums.add(kernel_.sums(n_, t_.j0, t_.j1, rings_.q.plane(k)));
    if (p_.coarse && k % 2 == 1 && k > t_.k0) {
      Three const q{rings_.q.plane(k - 2), rings_.q.plane(k - 1), rings_.q.plane(k)};
      restrict_rows(kernel_, q, p_.coarse, (t_.j0 + 1) / 2, (t_.j1 + 1) / 2, (k - 1) / 2);
    }
  }

  Pass const& p_;
  Kernel const& kernel_;
  int const n_;
  Tile const t_;
  Rings& rings_;
};

}  // namespace

void restrict_rows(Kernel const& kernel, Three const& fine, Field const& coarse, std::ptrdiff_t j0,
                   std::ptrdiff_t j1, std::ptrdiff_t k) {
  int const n = coarse.level->n;
  Out const out = coarse.plane(k);
  kernel.restrict_to(n, j0, j1, fine, out);
  if (j0 == 1) std::copy(out[1] - 1, out[1] + n + 1, out[n + 1] - 1);
}

void Rings::fit(int n, Tile const& tile) {
  Layout const layout = ring_layout(n, tile.j1 - tile.j0);
  auto const planes = static_cast<std::size_t>(4 * 3 * layout.plane);
  if (memory_.size() < planes + line + tail) memory_.resize(planes + line + tail);
  auto const misplaced = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(double) % line;
  double* at = memory_.data() + (line - misplaced) % line + line;
  for (Ring* ring : {&w, &r, &x, &q}) {
    ring->layout_ = layout;
    ring->base_ = at - (tile.j0 - rows_below) * layout.row;
    at += 3 * layout.plane;
  }
}

std::size_t Rings::bytes(int n, std::ptrdiff_t rows) noexcept {
  return static_cast<std::size_t>(4 * 3 * ring_layout(n, rows).plane) * sizeof(double);
}

Sums run_tile(Pass const& pass, Tile const& tile, Rings& rings) {
  rings.fit(pass.n, tile);
  return TilePass(pass, tile, rings).run();
}

}  // namespace npb_mg
