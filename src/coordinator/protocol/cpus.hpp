// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cpus in messages, by Linux's numbers: a set has no order, a team has one, that of its threads.
//
// Both are bounded: received cpus are copied into place, and no message can make its reader
// allocate.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"

namespace nigh::coordinator {

// As many as glibc's cpu_set_t holds, with which threads are pinned.
inline constexpr int max_cpus = 1024;

// Unordered: the cpus that a program may use.
struct CpuSet {
  std::array<std::uint64_t, max_cpus / 64> words{};

  constexpr bool has(int cpu) const noexcept {
    return 0 <= cpu && cpu < max_cpus && (words[word(cpu)] >> (cpu % 64) & 1) != 0;
  }
  constexpr void add(int cpu) noexcept {
    NIGH_ASSERT(0 <= cpu && cpu < max_cpus, "a cpu has a place in the set");
    words[word(cpu)] |= std::uint64_t{1} << (cpu % 64);
  }
  constexpr bool empty() const noexcept { return *this == CpuSet{}; }
  constexpr int count() const noexcept {
    int n = 0;
    for (auto const word : words) n += std::popcount(word);
    return n;
  }
  bool operator==(CpuSet const&) const = default;

 private:
  static constexpr std::size_t word(int cpu) noexcept { return static_cast<std::size_t>(cpu) / 64; }
};

// In the order of the threads, leader first. A bitmap would be a sixteenth of the size, but its
// reader knows nothing of the machine, and cpus next to each other rarely have consecutive
// numbers: Linux numbers the siblings of all cores last. Grants are rare, and 2 KB take a tenth of
// a microsecond.
class CpuTeam {
 public:
  constexpr CpuTeam() = default;
  template <class Cpus>
  constexpr explicit CpuTeam(Cpus const& cpus) {
    for (int c : cpus) add(c);
  }

  constexpr int size() const noexcept { return size_; }
  constexpr int operator[](int thread) const noexcept {
    return cpus_[static_cast<std::size_t>(thread)];
  }
  constexpr void add(int cpu) noexcept {
    NIGH_ASSERT(size_ < max_cpus && 0 <= cpu && cpu < max_cpus, "a team has room");
    cpus_[size_++] = static_cast<std::uint16_t>(cpu);
  }
  // After the last one there are zeros; each cpu exists and comes once.
  constexpr bool is_valid() const noexcept {
    if (size_ > max_cpus) return false;
    CpuSet seen;
    for (std::size_t i = 0; i < size_; ++i) {
      int const cpu = cpus_[i];
      if (cpu >= max_cpus || seen.has(cpu)) return false;
      seen.add(cpu);
    }
    unsigned behind = 0;  // without a branch, so that the compiler vectorizes the loop
    for (std::size_t i = size_; i < cpus_.size(); ++i) behind |= cpus_[i];
    return behind == 0;
  }
  bool operator==(CpuTeam const&) const = default;

  template <class Wire, class Self>
  static constexpr void layout(Wire& wire, Self& m) {
    wire(m.size_);
    wire(m.cpus_);
  }

 private:
  std::uint16_t size_ = 0;
  std::array<std::uint16_t, max_cpus> cpus_{};
};

}  // namespace nigh::coordinator
