// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for a stencil: a grid in two copies, one for the even steps, one for the odd ones, with
// ghosts around it.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nigh/array.hpp>
#include <nigh/box.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/stencil.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nigh {

// A copy. Indices may reach into the ghosts: from -reach to size + reach - 1.
template <class T, std::size_t D>
class grid_view {
 public:
  grid_view(T* origin, std::array<std::ptrdiff_t, D> const& strides) noexcept
      : origin_(origin), strides_(strides) {}

  // One index for each dimension.
  template <class... Index>
  T& operator()(Index... at) const noexcept {
    static_assert(sizeof...(Index) == D, "an index for each dimension");
    std::ptrdiff_t offset = 0;
    std::size_t d = 0;
    ((offset += static_cast<std::ptrdiff_t>(at) * strides_[d++]), ...);
    return origin_[offset];
  }
  T& at(std::array<std::ptrdiff_t, D> const& point) const noexcept {
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d < D; ++d) offset += point[d] * strides_[d];
    return origin_[offset];
  }
  // Elements between neighbours in this dimension; 1 in the last one.
  std::ptrdiff_t stride(std::size_t dimension) const noexcept { return strides_[dimension]; }

 private:
  T* origin_;
  std::array<std::ptrdiff_t, D> strides_;
};

template <std::size_t D>
struct time_grid_options {
  std::size_t reach = 1;  // of the update, and width of the ghosts
  std::array<boundary, D> boundaries{};
  stencil_options tiles = {};
  bool checked = false;  // as tiles.checked
};

// Planes lie in blocks over the domains. Ghosts of fixed boundaries keep the values of fill(),
// those of periodic ones follow the other end.
//
//   nigh::time_grid<double, 3> u({n, n, n});
//   u.fill([](auto k, auto j, auto i) { return initial(k, j, i); });
//   u.run(100, [](std::size_t, auto const& now, auto const& before, nigh::box<3> const& b) { ...
//   }); double const middle = u.values()(n / 2, n / 2, n / 2);
template <class T, std::size_t D>
class time_grid {
 public:
  using point = std::array<std::ptrdiff_t, D>;

  // std::invalid_argument for what cannot be met (see nigh::stencil), or when a dimension with
  // periodic ends has fewer points than the reach; std::bad_alloc as nigh::array.
  explicit time_grid(std::array<std::size_t, D> const& points, time_grid_options<D> options = {})
      : points_(points), options_(std::move(options)) {
    std::size_t elements = 1;
    for (std::size_t d = D; d-- > 0;) {
      if (options_.boundaries[d] == boundary::periodic && points[d] < options_.reach)
        throw std::invalid_argument("nigh::time_grid: reach: " + std::to_string(options_.reach) +
                                    " goes around the " + std::to_string(points[d]) +
                                    " points of dimension " + std::to_string(d));
      strides_[d] = static_cast<std::ptrdiff_t>(elements);
      std::size_t with_ghosts;
      if (__builtin_mul_overflow(options_.reach, std::size_t{2}, &with_ghosts) ||
          __builtin_add_overflow(with_ghosts, points[d], &with_ghosts) ||
          __builtin_mul_overflow(elements, with_ghosts, &elements))
        throw std::length_error("nigh::time_grid: more elements than 64 bits can count");
    }
    for (auto& copy : copies_)
      copy = array<T>(elements, placement::blocked(static_cast<std::size_t>(strides_[0])));
    options_.tiles.checked |= options_.checked;
    stencil_array<D> all{
        .even = &view(0).at({}), .odd = &view(1).at({}), .element_bytes = sizeof(T)};
    all.ghosts.fill(options_.reach);
    stencil_.emplace_back(
        stencil_shape<D>{.points = points,
                         .reach = options_.reach,
                         .boundaries = options_.boundaries,
                         .point_bytes = 2 * sizeof(T),
                         .data = all.even,
                         .plane_bytes = static_cast<std::size_t>(strides_[0]) * sizeof(T),
                         .arrays = {all}},
        options_.tiles);
  }

  stencil_plan const& plan() const noexcept { return stencil_.front().plan(); }
  std::size_t steps_done() const noexcept { return stencil_.front().steps_done(); }
  std::array<std::size_t, D> const& points() const noexcept { return points_; }
  grid_view<T, D> values() noexcept { return view(steps_done()); }
  grid_view<T const, D> values() const noexcept {
    auto const v = const_cast<time_grid&>(*this).values();
    return {&v.at({}), strides_};
  }

  // Both copies of all points and ghosts: value(k, j, i), each index signed. For ghosts of periodic
  // boundaries, it gets the point at the other end.
  template <class Value>
  void fill(Value const& value) {
    auto const reach = static_cast<std::ptrdiff_t>(options_.reach);
    auto const planes = static_cast<std::ptrdiff_t>(points_[0]);
    nigh::parallel_for(
        -reach, planes + reach,
        [&](std::ptrdiff_t plane) {
          point low{}, high{};
          for (std::size_t d = 0; d < D; ++d) {
            low[d] = -reach;
            high[d] = static_cast<std::ptrdiff_t>(points_[d]) + reach;
          }
          low[0] = plane;
          high[0] = plane + 1;
          for_each(low, high, [&](point const& p) {
            T const v = std::apply(value, wrapped(p));
            view(0).at(p) = view(1).at(p) = v;
          });
        },
        loop_options{.where = options_.tiles.where});
  }

  // update(step, now, before, box): writes now at the points of the box, from before.
  template <class Update>
  void run(std::size_t steps, Update const& update) {
    stencil_.front().run(steps, [&](std::size_t step, box<D> const& b) { call(update, step, b); });
  }
  // As nigh::stencil's; norm(now, before, box).
  template <class Update, class Norm, class Enough>
  bool run_until(std::size_t steps, std::size_t every, Update const& update, Norm const& norm,
                 Enough const& enough) {
    return stencil_.front().run_until(
        steps, every, [&](std::size_t step, box<D> const& b) { call(update, step, b); },
        [&](std::size_t step, box<D> const& b) { return norm(view(step), old(step), b); }, enough);
  }

 private:
  grid_view<T, D> view(std::size_t step) noexcept {
    point inner;
    inner.fill(static_cast<std::ptrdiff_t>(options_.reach));
    grid_view<T, D> const all(copies_[step % 2].data(), strides_);
    return {&all.at(inner), strides_};
  }
  grid_view<T const, D> old(std::size_t step) noexcept {
    return {&view(step + 1).at({}), strides_};
  }
  point wrapped(point p) const noexcept {
    for (std::size_t d = 0; d < D; ++d) {
      if (options_.boundaries[d] == boundary::fixed) continue;
      auto const n = static_cast<std::ptrdiff_t>(points_[d]);
      p[d] = (p[d] % n + n) % n;
    }
    return p;
  }
  template <class F>
  static void for_each(point const& low, point const& high, F const& f) {
    for (std::size_t d = 0; d < D; ++d)
      if (low[d] >= high[d]) return;
    for (point p = low;;) {
      f(p);
      std::size_t d = D;
      while (d-- > 0) {
        if (++p[d] < high[d]) break;
        p[d] = low[d];
        if (d == 0) return;
      }
    }
  }

  template <class Update>
  void call(Update const& update, std::size_t step, box<D> const& b) {
    update(step, view(step), old(step), b);
    follow(step, b);
  }

  // The ghosts that are periodic images of points of this box.
  void follow(std::size_t step, box<D> const& b) {
    auto const now = view(step);
    auto const reach = static_cast<std::ptrdiff_t>(options_.reach);
    point turn;  // -1, 0, 1 of each periodic dimension
    for (std::size_t d = 0; d < D; ++d)
      turn[d] = options_.boundaries[d] == boundary::fixed ? 0 : -1;
    point const first = turn;
    point last = turn;
    for (auto& t : last) t = -t + 1;
    for_each(first, last, [&](point const& t) {
      if (t == point{}) return;
      point low, high, shift;
      for (std::size_t d = 0; d < D; ++d) {
        auto const n = static_cast<std::ptrdiff_t>(points_[d]);
        shift[d] = t[d] * n;
        low[d] = std::max(static_cast<std::ptrdiff_t>(b.begin[d]) + shift[d], -reach);
        high[d] = std::min(static_cast<std::ptrdiff_t>(b.end[d]) + shift[d], n + reach);
      }
      for_each(low, high, [&](point const& ghost) {
        point from = ghost;
        for (std::size_t d = 0; d < D; ++d) from[d] -= shift[d];
        now.at(ghost) = now.at(from);
      });
    });
  }

  std::array<std::size_t, D> points_;
  time_grid_options<D> options_;
  point strides_{};
  std::array<array<T>, 2> copies_;
  std::vector<stencil<D>> stencil_;  // one, made after its memory
};

}  // namespace nigh
