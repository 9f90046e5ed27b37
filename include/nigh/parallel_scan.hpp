// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_inclusive_scan, parallel_exclusive_scan: all prefix sums of a sequence.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <nigh/array.hpp>
#include <nigh/detail/scan_tiles.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/loop_options.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace nigh {
namespace detail {

template <scan_kind Kind, class In, class Out, class Op>
std::iter_value_t<Out> scan(In in, std::size_t n, Out out, std::iter_value_t<Out> identity,
                            Op const& op, loop_options const& options) {
  using T = std::iter_value_t<Out>;
  static_assert(std::is_same_v<std::iter_reference_t<Out>, T&>,
                "a scan's output consists of objects that are not const, not of bits of a "
                "vector<bool>");
  static_assert(std::is_invocable_r_v<T, Op const&, T const&, std::iter_reference_t<In>> &&
                    std::is_invocable_r_v<T, Op const&, T const&, T const&>,
                "a scan's operation is called as const: with two values of the output's element "
                "type as const, and with one and an element of the input");
  if (n == 0) return identity;
  // A tile's elements and results take 128 KiB: some of them fit in a core's second-level cache.
  constexpr std::size_t tile_bytes = 128 << 10;
  constexpr auto size =
      std::max<std::size_t>(tile_bytes / (sizeof(std::iter_value_t<In>) + sizeof(T)), 1024);
  using tile = tile_scan<Kind, In, Out, Op>;
  tile const elements(in, out, identity, op);
  // Plain sums of few tiles are done before another thread would be awake.
  constexpr auto least = tile::by_vectors ? 4 * size : size;
  auto const result = [&](T&& total) -> T {
    // The sum of a tile may be rounded otherwise than its last element.
    if constexpr (Kind == scan_kind::inclusive && std::is_copy_constructible_v<T>)
      return out[static_cast<std::iter_difference_t<Out>>(n - 1)];
    else
      return std::move(total);
  };
  if (n <= least) return result(elements.scan_alone(0, n, elements.identity()));
  tiled_scan<tile, T> all(elements, n, size);
  auto total = options.how ? all.in_two_passes(options) : all.in_one_pass(options);
  return total ? result(std::move(*total)) : std::move(identity);
}

template <class Range>
concept scannable = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

// Iterators of contiguous elements as pointers: they need fewer instantiations.
template <std::input_or_output_iterator Iterator>
auto plain_iterator(Iterator i, std::size_t n) {
  if constexpr (std::contiguous_iterator<Iterator>)
    return n == 0 ? std::add_pointer_t<std::iter_reference_t<Iterator>>{} : std::to_address(i);
  else
    return i;
}

template <class T>
std::optional<schedule> near_schedule(array<T> const& a) {
  if (auto map = map_of(a.placed(), sizeof(T)))
    return schedule(schedule_kind::local, 1, std::move(map));
  return std::nullopt;
}
template <class Range>
std::optional<schedule> near_schedule(Range const&) {
  return std::nullopt;
}

template <scan_kind Kind, class In, class Out, class Op>
auto scan_ranges(In& in, Out& out, std::ranges::range_value_t<Out> identity, Op const& op,
                 loop_options options) {
  auto const n = std::ranges::size(in);
  if (n != std::ranges::size(out))
    refuse_lengths("a scan", n, "into", std::ranges::size(out));
  if (!options.how) options.how = near_schedule(out);
  if (!options.how) options.how = near_schedule(in);
  return scan<Kind>(plain_iterator(std::ranges::begin(in), n), n,
                    plain_iterator(std::ranges::begin(out), n), std::move(identity), op, options);
}

}  // namespace detail

// out[i] = identity op in[0] op ... op in[i]; the exclusive one leaves out in[i], and
// out[0] = identity. Returns all of them together, of the output's element type. Ranges (vectors,
// spans, arrays) with random access, or iterators: (first, last, out, identity). `op` is
// associative, and need not commute. For floating-point numbers, the result depends on the length
// alone, not on workers or schedules; other associations than from left to right round otherwise.
//
// `identity` may be any first value if the elements convert to the output's type; else, and for
// values that can only be moved, it must be the operation's identity. Such values are never copied.
// `out` may be `in`, and overlaps it in no other way.
//
// Memory is read once: tiles of up to 8192 numbers are summed up and scanned while they are in a
// core's cache, by two or three operations for each element. With a schedule in `options`, or
// for an array (nigh/array.hpp) over several domains, whose tiles go to workers of their own domain
// first, there are two passes: over all tiles for their sums, and over all for their results. 64
// bytes or a little more are allocated for a tile.
//
// Options as for parallel_for, apart from the grain; stopped early, `out` is unspecified, and so is
// the result. When op throws, one such exception is rethrown, and `out` holds valid elements.
// std::invalid_argument when the lengths differ, std::bad_alloc before anything is written.
template <detail::scannable In, detail::scannable Out, class Op = std::plus<>>
std::ranges::range_value_t<Out> parallel_inclusive_scan(
    In&& in, Out&& out, std::type_identity_t<std::ranges::range_value_t<Out>> identity,
    Op const& op = {}, loop_options const& options = {}) {
  return detail::scan_ranges<detail::scan_kind::inclusive>(in, out, std::move(identity), op,
                                                           options);
}
template <detail::scannable In, detail::scannable Out, class Op = std::plus<>>
std::ranges::range_value_t<Out> parallel_exclusive_scan(
    In&& in, Out&& out, std::type_identity_t<std::ranges::range_value_t<Out>> identity,
    Op const& op = {}, loop_options const& options = {}) {
  return detail::scan_ranges<detail::scan_kind::exclusive>(in, out, std::move(identity), op,
                                                           options);
}
template <std::random_access_iterator In, std::random_access_iterator Out, class Op = std::plus<>>
std::iter_value_t<Out> parallel_inclusive_scan(
    In first, In last, Out out, std::type_identity_t<std::iter_value_t<Out>> identity,
    Op const& op = {}, loop_options const& options = {}) {
  auto const n = detail::length_of(first, last);
  return detail::scan<detail::scan_kind::inclusive>(detail::plain_iterator(first, n), n,
                                                    detail::plain_iterator(out, n),
                                                    std::move(identity), op, options);
}
template <std::random_access_iterator In, std::random_access_iterator Out, class Op = std::plus<>>
std::iter_value_t<Out> parallel_exclusive_scan(
    In first, In last, Out out, std::type_identity_t<std::iter_value_t<Out>> identity,
    Op const& op = {}, loop_options const& options = {}) {
  auto const n = detail::length_of(first, last);
  return detail::scan<detail::scan_kind::exclusive>(detail::plain_iterator(first, n), n,
                                                    detail::plain_iterator(out, n),
                                                    std::move(identity), op, options);
}

}  // namespace nigh
