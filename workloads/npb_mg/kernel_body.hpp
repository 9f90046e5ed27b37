// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operators, for any width of vector. V has a type, its width in doubles, loads and stores of
// aligned lines, and moves between lanes:
//
//   before(previous, current)   lane l holds what lies one double before lane l of current
//   after(current, next)        one double after
//   interleave(odd, even)       o0 e0 o1 e1 ..., as a pair of vectors
//   odd(low, high), even(...)   of such a pair, its first, third, ... and its second, fourth, ...
//
// A row is walked once, vector by vector, with the sums of its neighbours in the cross-section
//
//    t2 t1 t2        k+1    t1: faces    (j-1,k) + (j+1,k) + [(j,k-1) + (j,k+1)]
//    t1  c t1        k      t2: corners  [(j-1,k-1) + (j-1,k+1)] + [(j+1,k-1) + (j+1,k+1)]
//    t2 t1 t2        k-1
//
// kept for the vectors before, at and after the current one: neighbours in i are moves between
// registers, not further loads. Rows shorter than a vector fill it with what lies beside them, and
// write it over what lies beside them.

#include <span>

#include "npb_mg/kernel_tables.hpp"

namespace npb_mg {

template <class V>
struct Pair {
  typename V::type first, second;
};

template <class V>
struct Cross {
  using type = typename V::type;
  type c, t1, t2;
};

// Of `count` rows from j on, which share the sums over k of the rows between them.
template <class V, std::size_t count>
struct Crosses {
  using type = typename V::type;
  static constexpr auto rows = static_cast<std::ptrdiff_t>(count);
  Cross<V> of[count];

  static Crosses load(Three const& x, std::ptrdiff_t j, std::ptrdiff_t i) noexcept {
    type at[count + 2];
    type pair[count + 2];
    for (std::ptrdiff_t q = 0; q < rows + 2; ++q) {
      at[q] = V::load(x.at[j - 1 + q] + i);
      pair[q] = V::load(x.below[j - 1 + q] + i) + V::load(x.above[j - 1 + q] + i);
    }
    Crosses sums;
    for (std::ptrdiff_t q = 0; q < rows; ++q)
      sums.of[q] = {at[q + 1], (at[q] + at[q + 2]) + pair[q + 1], pair[q] + pair[q + 2]};
    return sums;
  }
};

// A template like all that follows, so that no instruction set's copy serves another's.
template <class V>
void set_ghosts(int n, double* row) noexcept {
  row[-1] = row[n - 1];
  row[n] = row[0];
}

template <class V, std::size_t count>
void residual_rows(int n, std::ptrdiff_t j, Three const& u, In v, Out out) noexcept {
  auto const a0 = V::broadcast(operator_a[0]);
  auto const a2 = V::broadcast(operator_a[2]);
  auto const a3 = V::broadcast(operator_a[3]);
  static_assert(operator_a[1] == 0);
  using All = Crosses<V, count>;
  constexpr auto rows = All::rows;
  All previous = All::load(u, j, -V::width);
  All current = All::load(u, j, 0);
  for (std::ptrdiff_t i = 0; i < n; i += V::width) {
    All const next = All::load(u, j, i + V::width);
    for (std::ptrdiff_t q = 0; q < rows; ++q) {
      auto const [c, t1, t2] = current.of[q];
      auto const edges = (t2 + V::before(previous.of[q].t1, t1)) + V::after(t1, next.of[q].t1);
      auto const corners = V::before(previous.of[q].t2, t2) + V::after(t2, next.of[q].t2);
      V::store(out[j + q] + i, ((V::load(v[j + q] + i) - a0 * c) - a2 * edges) - a3 * corners);
    }
    previous = current;
    current = next;
  }
  for (std::ptrdiff_t q = 0; q < rows; ++q) set_ghosts<V>(n, out[j + q]);
}

template <class V, std::size_t count, bool streaming>
void smooth_rows(int n, std::ptrdiff_t j, Weights const& s, Three const& r, In u,
                 Out out) noexcept {
  auto const s0 = V::broadcast(s[0]);
  auto const s1 = V::broadcast(s[1]);
  auto const s2 = V::broadcast(s[2]);  // the corners' weight is zero
  using All = Crosses<V, count>;
  constexpr auto rows = All::rows;
  All previous = All::load(r, j, -V::width);
  All current = All::load(r, j, 0);
  for (std::ptrdiff_t i = 0; i < n; i += V::width) {
    All const next = All::load(r, j, i + V::width);
    for (std::ptrdiff_t q = 0; q < rows; ++q) {
      auto const [c, t1, t2] = current.of[q];
      auto const faces = (t1 + V::before(previous.of[q].c, c)) + V::after(c, next.of[q].c);
      auto const edges = (t2 + V::before(previous.of[q].t1, t1)) + V::after(t1, next.of[q].t1);
      auto const value = ((V::load(u[j + q] + i) + s0 * c) + s1 * faces) + s2 * edges;
      if constexpr (streaming)
        V::stream(out[j + q] + i, value);
      else
        V::store(out[j + q] + i, value);
    }
    previous = current;
    current = next;
  }
  if constexpr (!streaming)
    for (std::ptrdiff_t q = 0; q < rows; ++q) set_ghosts<V>(n, out[j + q]);
}

// The mean over the cross-section of a fine row, for two vectors of points: odd i, and even.
template <class V>
Pair<V> section(Three const& fine, std::ptrdiff_t j, std::ptrdiff_t i) noexcept {
  auto const half = V::broadcast(0.5);
  auto const quarter = V::broadcast(0.25);
  auto const mean = [&](std::ptrdiff_t at) {
    auto const [c, t1, t2] = Crosses<V, 1>::load(fine, j, at).of[0];
    return (c + half * t1) + quarter * t2;
  };
  auto const low = mean(i);
  auto const high = mean(i + V::width);
  return {V::odd(low, high), V::even(low, high)};
}

template <class V>
void restrict_rows(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Three const& fine,
                   Out out) noexcept {
  auto const half = V::broadcast(0.5);
  auto const quarter = V::broadcast(0.25);
  for (std::ptrdiff_t j = j0; j < j1; ++j) {
    auto [odd, even] = section<V>(fine, 2 * j, 0);
    for (std::ptrdiff_t i = 0; i < n; i += V::width) {
      auto const [next_odd, next_even] = section<V>(fine, 2 * j, 2 * (i + V::width));
      V::store(out[j] + i, half * even + quarter * (odd + V::after(odd, next_odd)));
      odd = next_odd;
      even = next_even;
    }
    set_ghosts<V>(n, out[j]);
  }
}

template <class V, std::size_t count>
void prolong_row(int n, double const* const* z, double const* u, double* out) noexcept {
  auto const scale = V::broadcast(1.0 / count);
  auto const half = V::broadcast(0.5 / count);
  auto const load = [&](std::ptrdiff_t i) {
    auto sum = V::load(z[0] + i);
    for (std::size_t q = 1; q < count; ++q) sum = sum + V::load(z[q] + i);
    return sum;
  };
  auto const put = [&](std::ptrdiff_t i, typename V::type x) {
    V::store(out + i, u != nullptr ? V::load(u + i) + x : x);
  };
  auto previous = load(-V::width);
  for (std::ptrdiff_t i = 0; i < n; i += 2 * V::width) {
    auto const sum = load(i / 2);
    auto const [low, high] = V::interleave(half * (V::before(previous, sum) + sum), scale * sum);
    put(i, low);
    if (i + V::width < n) put(i + V::width, high);
    previous = sum;
  }
  set_ghosts<V>(n, out);
}

template <class V>
struct Operators {
  // Rows done together: more of them share more sums, as far as registers go.
  static constexpr std::size_t block = V::registers >= 32 ? 2 : 1;
  static constexpr auto step = static_cast<std::ptrdiff_t>(block);

  static void residual(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Three const& u, In v, Out out) {
    std::ptrdiff_t j = j0;
    for (; j + step <= j1; j += step) residual_rows<V, block>(n, j, u, v, out);
    for (; j < j1; ++j) residual_rows<V, 1>(n, j, u, v, out);
  }

  template <bool streaming>
  static void smooth_as(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Weights const& s,
                        Three const& r, In u, Out out) {
    std::ptrdiff_t j = j0;
    for (; j + step <= j1; j += step) smooth_rows<V, block, streaming>(n, j, s, r, u, out);
    for (; j < j1; ++j) smooth_rows<V, 1, streaming>(n, j, s, r, u, out);
  }
  static void smooth(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Weights const& s, Three const& r,
                     In u, Out out, bool streaming) {
    if (!streaming) return smooth_as<false>(n, j0, j1, s, r, u, out);
    smooth_as<true>(n, j0, j1, s, r, u, out);
    V::fence();  // whoever waits for this thread sees its stores
  }

  static void prolong(int n, std::span<double const* const> z, double const* u, double* out) {
    if (z.size() == 1)
      prolong_row<V, 1>(n, z.data(), u, out);
    else if (z.size() == 2)
      prolong_row<V, 2>(n, z.data(), u, out);
    else
      prolong_row<V, 4>(n, z.data(), u, out);
  }

  static Sums sums(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, In r) {
    auto squares = V::broadcast(0);
    auto largest = V::broadcast(0);
    for (std::ptrdiff_t j = j0; j < j1; ++j)
      for (std::ptrdiff_t i = 0; i < n; i += V::width) {
        auto const x = V::load(r[j] + i);
        squares = squares + x * x;
        largest = V::largest(largest, V::largest(x, V::broadcast(0) - x));
      }
    alignas(64) double lanes[2][V::width];
    V::store(lanes[0], squares);
    V::store(lanes[1], largest);
    Sums total;
    for (int l = 0; l < V::width; ++l) {
      total.squares += lanes[0][l];
      if (lanes[1][l] > total.largest) total.largest = lanes[1][l];
    }
    return total;
  }

  static constexpr Kernel table(std::string_view isa) noexcept {
    return {isa, residual, smooth, restrict_rows<V>, prolong, sums};
  }
};

}  // namespace npb_mg
