// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which locality domain gets which page of an array?

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <cstdint>

namespace nigh {

// A rule for an array of so many elements on a machine with so many domains. Domains are those of
// the topology the array is made for; blocked, cyclic and interleave use the domains that have both
// cpus and memory.
class placement {
 public:
  enum class kind : std::uint8_t { first_touch, interleave, bind, blocked, cyclic };

  // Each page goes to the domain of the thread that first writes it (Linux's habit).
  static constexpr placement first_touch() noexcept { return {kind::first_touch, 0}; }
  // Single pages, in turn over the domains.
  static constexpr placement interleave() noexcept { return {kind::interleave, 0}; }
  // All of it in one domain, which may be memory-only.
  static constexpr placement bind(int domain) noexcept {
    return {kind::bind, static_cast<std::size_t>(domain)};
  }
  // One contiguous block of equal size for each domain, in order: the same as first touch by a
  // statically scheduled loop.
  static constexpr placement blocked(std::size_t granule = 1) noexcept {
    return {kind::blocked, granule};
  }
  // Pieces of `elements` elements, in turn over the domains: the same as first touch by a loop with
  // schedule(static, chunk), with chunks handed out domain by domain.
  static constexpr placement cyclic(std::size_t elements) noexcept {
    return {kind::cyclic, elements};
  }

  constexpr kind how() const noexcept { return how_; }
  constexpr int domain() const noexcept { return static_cast<int>(value_); }  // of bind
  // Elements in one piece of cyclic; for blocked, block borders are multiples of it.
  constexpr std::size_t granule() const noexcept { return value_; }

  constexpr bool operator==(placement const&) const = default;

 private:
  constexpr placement(kind how, std::size_t value) noexcept : how_(how), value_(value) {}

  kind how_;
  std::size_t value_;
};

}  // namespace nigh
