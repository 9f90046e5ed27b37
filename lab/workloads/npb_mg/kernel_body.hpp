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
// With weights w, a point takes  w0 c + w1 t1 + w2 t2  of its own cross-section (`here`), and
// w1 c + w2 t1 + w3 t2  of the ones before and after it (`beside`), which are kept from vector to
// vector: neighbours in i are moves between registers, not further loads. Rows shorter than a
// vector fill it with what lies beside them, and write it over what lies beside them.

#include <span>

#include "npb_mg/kernel.hpp"

namespace npb_mg {

template <class V>
struct Pair {
  typename V::type first, second;
};

// Rows around a row j, found once: a vector's store could, for all the compiler knows, change where
// rows begin.
struct Around {
  double const *below, *at, *above;  // of row j - 1
  std::ptrdiff_t row;                // the same in the three planes

  Around(Three const& x, std::ptrdiff_t j) noexcept
      : below(x.below[j - 1]), at(x.at[j - 1]), above(x.above[j - 1]), row(x.at.row) {}
};

template <class V>
struct Cross {
  typename V::type c, t1, t2;

  [[gnu::always_inline]] static Cross load(Around const& x, std::ptrdiff_t i) noexcept {
    auto const pair = [&](std::ptrdiff_t q) {
      return V::load(x.below + q * x.row + i) + V::load(x.above + q * x.row + i);
    };
    auto const at = [&](std::ptrdiff_t q) { return V::load(x.at + q * x.row + i); };
    return {at(1), (at(0) + at(2)) + pair(1), pair(0) + pair(2)};
  }
};

// A template like all that follows, so that no instruction set's copy serves another's.
template <class V>
void set_ghosts(int n, double* row) noexcept {
  row[-1] = row[n - 1];
  row[n] = row[0];
}

template <class V>
struct Shares {
  typename V::type here, beside;
};

// Calls put(i, sum) for each vector i of a row with the operator's value there; share(cross) gives
// the Shares of a cross-section.
template <class V, class Share, class Put>
[[gnu::always_inline]] inline void walk(int n, Around const x, Share const& share,
                                        Put const& put) noexcept {
  Shares<V> previous = share(Cross<V>::load(x, -V::width));
  Shares<V> current = share(Cross<V>::load(x, 0));
  for (std::ptrdiff_t i = 0; i < n; i += V::width) {
    Shares<V> const next = share(Cross<V>::load(x, i + V::width));
    put(i, current.here + (V::before(previous.beside, current.beside) +
                           V::after(current.beside, next.beside)));
    previous = current;
    current = next;
  }
}

template <class V>
void residual_row(int n, Around const& u, double const* v, double* out) noexcept {
  using type = typename V::type;
  auto const a0 = V::broadcast(operator_a[0]);
  auto const a2 = V::broadcast(operator_a[2]);
  auto const a3 = V::broadcast(operator_a[3]);
  static_assert(operator_a[1] == 0);
  walk<V>(
      n, u,
      [&](Cross<V> const& x) { return Shares<V>{a0 * x.c + a2 * x.t2, a2 * x.t1 + a3 * x.t2}; },
      [&](std::ptrdiff_t i, type sum) { V::store(out + i, V::load(v + i) - sum); });
  set_ghosts<V>(n, out);
}

template <class V, bool with_copy>
void smooth_row(int n, Weights const& s, Around const& r, double const* u, double* out,
                double* copy) noexcept {
  using type = typename V::type;
  auto const s0 = V::broadcast(s[0]);
  auto const s1 = V::broadcast(s[1]);
  auto const s2 = V::broadcast(s[2]);  // the corners' weight is zero
  walk<V>(
      n, r,
      [&](Cross<V> const& x) {
        return Shares<V>{(s0 * x.c + s1 * x.t1) + s2 * x.t2, s1 * x.c + s2 * x.t1};
      },
      [&](std::ptrdiff_t i, type sum) {
        auto const value = V::load(u + i) + sum;
        V::store(out + i, value);
        if constexpr (with_copy) V::stream(copy + i, value);
      });
  set_ghosts<V>(n, out);
}

// The mean over the cross-section of a fine row, for two vectors of points: odd i, and even.
template <class V>
Pair<V> section(Around const& fine, std::ptrdiff_t i) noexcept {
  auto const half = V::broadcast(0.5);
  auto const quarter = V::broadcast(0.25);
  auto const mean = [&](std::ptrdiff_t at) {
    auto const [c, t1, t2] = Cross<V>::load(fine, at);
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
    Around const around(fine, 2 * j);
    double* const to = out[j];
    auto [odd, even] = section<V>(around, 0);
    for (std::ptrdiff_t i = 0; i < n; i += V::width) {
      auto const [next_odd, next_even] = section<V>(around, 2 * (i + V::width));
      V::store(to + i, half * even + quarter * (odd + V::after(odd, next_odd)));
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
  static void residual(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Three const& u, In v, Out out) {
    for (std::ptrdiff_t j = j0; j < j1; ++j) residual_row<V>(n, Around(u, j), v[j], out[j]);
  }

  static void smooth(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Weights const& s, Three const& r,
                     In u, Out out, Out copy) {
    if (copy.base == nullptr) {
      for (std::ptrdiff_t j = j0; j < j1; ++j)
        smooth_row<V, false>(n, s, Around(r, j), u[j], out[j], nullptr);
      return;
    }
    for (std::ptrdiff_t j = j0; j < j1; ++j)
      smooth_row<V, true>(n, s, Around(r, j), u[j], out[j], copy[j]);
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
