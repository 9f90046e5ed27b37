// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums and prefix sums of plain numbers by vectors of 16 bytes, which every processor of the
// supported kinds has. One stream is read and one written, in order, as prefetchers like it.

#include <cstddef>
#include <cstring>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/detail/fold.hpp>
#include <type_traits>

namespace nigh::detail {

template <class T, class Op>
inline constexpr bool is_addition =
    std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>> || std::is_same_v<Op, sum_word>;

template <class In, class Out, class Op>
inline constexpr bool has_prefix_sums = false;
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
template <class X, class T, class Op>
inline constexpr bool has_prefix_sums<X*, T*, Op> =
    std::is_same_v<std::remove_const_t<X>, T> && is_addition<T, Op> && std::is_arithmetic_v<T> &&
    (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
class prefix_sums {
  static constexpr std::size_t width = 16 / sizeof(T);
  static constexpr std::size_t vectors = 4;  // at once, so that one addition need not await another
  static constexpr std::size_t group = width * vectors;
  typedef T vec __attribute__((vector_size(16)));

  static vec load(T const* at) noexcept {
    vec v;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
  static void store(T* at, vec v) noexcept { std::memcpy(at, &v, sizeof v); }
  static vec all(T x) noexcept { return x - vec{}; }  // minus: -0.0 stays what it is
  // Changes no number that it is added to: 0.0 would turn -0.0 into 0.0.
  static vec none() noexcept { return all(std::is_floating_point_v<T> ? T(-0.0) : T(0)); }
  static vec last_of(vec v) noexcept {
    if constexpr (width == 2)
      return __builtin_shufflevector(v, v, 1, 1);
    else
      return __builtin_shufflevector(v, v, 3, 3, 3, 3);
  }
  // The elements of b, each one place up; the last of a comes first.
  static vec behind(vec a, vec b) noexcept {
    if constexpr (width == 2)
      return __builtin_shufflevector(a, b, 1, 2);
    else
      return __builtin_shufflevector(a, b, 3, 4, 5, 6);
  }
  static vec inclusive(vec v) noexcept {
    v += behind(none(), v);
    if constexpr (width == 4) v += __builtin_shufflevector(none(), v, 0, 1, 4, 5);
    return v;
  }

  // The prefix sums of a group, each vector's by itself, and those of the vectors.
  struct group_sums {
    vec p, q, r, s;
    vec two, three, four;

    explicit group_sums(T const* in) noexcept
        : p(inclusive(load(in))),
          q(inclusive(load(in + width))),
          r(inclusive(load(in + 2 * width))),
          s(inclusive(load(in + 3 * width))),
          two(last_of(p) + last_of(q)),
          three(two + last_of(r)),
          four(two + (last_of(r) + last_of(s))) {}
  };

 public:
  // Of n numbers. Added in the same order as scan() does: the bits are the same.
  static T sum(T const* in, std::size_t n) noexcept {
    vec carry = none();
    std::size_t i = 0;
    for (; n - i >= group; i += group) carry += group_sums(in + i).four;
    T total = carry[0];
    for (; i < n; ++i) total = static_cast<T>(total + in[i]);
    return total;
  }

  // out[i] = before + (in[0] + ... + in[i]); the exclusive ones leave out in[i]. Returns the sum of
  // all in[i]. `out` may be `in`.
  template <bool Exclusive>
  static T scan(T const* in, T* out, std::size_t n, T before) noexcept {
    vec const base = all(before);
    vec carry = none(), previous = base;
    std::size_t i = 0;
    for (; n - i >= group; i += group) {
      group_sums g(in + i);
      vec const from = base + carry;
      g.q += from + last_of(g.p);
      g.r += from + g.two;
      g.s += from + g.three;
      g.p += from;
      carry += g.four;
      if constexpr (Exclusive) {
        store(out + i, behind(previous, g.p));
        store(out + i + width, behind(g.p, g.q));
        store(out + i + 2 * width, behind(g.q, g.r));
        store(out + i + 3 * width, behind(g.r, g.s));
        previous = g.s;
      } else {
        store(out + i, g.p);
        store(out + i + width, g.q);
        store(out + i + 2 * width, g.r);
        store(out + i + 3 * width, g.s);
      }
    }
    T total = carry[0], last = last_of(previous)[0];
    for (; i < n; ++i) {
      total = static_cast<T>(total + in[i]);
      T const next = static_cast<T>(before + total);
      out[i] = Exclusive ? last : next;
      last = next;
    }
    return total;
  }
};
#endif
#endif

}  // namespace nigh::detail
