// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_inclusive_scan, parallel_exclusive_scan: all prefix sums of a sequence.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <nigh/parallel_for.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {
namespace detail {

// At most so many blocks, each summed up in a first pass and scanned in a second.
inline constexpr std::size_t scan_blocks = 64;
inline constexpr std::size_t least_scan_block = 4096;  // two passes over less are not worth it

template <bool Inclusive, class In, class T, class Op>
T scan_block(std::span<In> in, std::span<T> out, T value, Op const& op) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if constexpr (Inclusive) {
      value = op(std::move(value), in[i]);
      out[i] = value;
    } else {
      T next = op(value, in[i]);  // before `out` may overwrite `in`
      out[i] = std::move(value);
      value = std::move(next);
    }
  }
  return value;
}

template <bool Inclusive, class In, class T, class Op>
T scan(std::span<In> in, std::span<T> out, T identity, Op const& op, loop_options options) {
  if (in.size() != out.size())
    throw std::invalid_argument("a scan of " + std::to_string(in.size()) + " elements into " +
                                std::to_string(out.size()));
  auto const n = in.size();
  auto const block = std::max(n / scan_blocks + (n % scan_blocks != 0), least_scan_block);
  if (n <= block) return scan_block<Inclusive>(in, out, std::move(identity), op);

  if (!options.how)
    options.how = static_schedule();  // the second pass finds the block in its cache
  options.grain = block;
  std::vector<unshared<T>> before(n / block + (n % block != 0), unshared<T>{identity});
  auto const each_block = [&](auto const& f) {
    parallel_for(
        std::size_t{0}, n,
        [&f, block](index_range r) {
          for (auto at = r.begin; at < r.end; at += block) f(at, std::min(block, r.end - at));
        },
        options);
  };
  each_block([&](std::size_t at, std::size_t count) {
    T sum = identity;
    for (auto const& x : in.subspan(at, count)) sum = op(std::move(sum), x);
    before[at / block].value = std::move(sum);
  });
  T total = std::move(identity);
  for (auto& [sum] : before) {
    T next = op(total, sum);
    sum = std::exchange(total, std::move(next));
  }
  each_block([&](std::size_t at, std::size_t count) {
    scan_block<Inclusive>(in.subspan(at, count), out.subspan(at, count), before[at / block].value,
                          op);
  });
  return total;
}

}  // namespace detail

// out[i] = in[0] op ... op in[i]; the exclusive one leaves out in[i], and out[0] = identity.
// Returns all of them together. `op` is associative; for floating-point numbers, the result depends
// on the length alone. `out` may be `in`. Options as for parallel_for; stopped early, `out` is
// unspecified. std::invalid_argument when the lengths differ.
template <class In, class T, class Op>
T parallel_inclusive_scan(std::span<In> in, std::span<T> out, std::type_identity_t<T> identity,
                          Op const& op, loop_options const& options = {}) {
  return detail::scan<true>(in, out, std::move(identity), op, options);
}
template <class In, class T, class Op>
T parallel_exclusive_scan(std::span<In> in, std::span<T> out, std::type_identity_t<T> identity,
                          Op const& op, loop_options const& options = {}) {
  return detail::scan<false>(in, out, std::move(identity), op, options);
}

}  // namespace nigh
