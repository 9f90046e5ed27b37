// SPDX-License-Identifier: Apache-2.0
#pragma once
// The knowledge of a program's regions, in the page that it shares with the coordinator: a word for
// each region, found by its number. The program reads one at every region that it enters, so that
// lessons reach regions with a kept lease, too.
//
//     63      28 27  23 22    12   11   10      0
//    ┌──────────┬──────┬────────┬──────┬─────────┐
//    │ whose    │ trial│ size   │ limit│ maximum │
//    └──────────┴──────┴────────┴──────┴─────────┘
//
// The coordinator writes; entries are added and changed, never removed. All is relaxed: each word
// is complete, and a slightly old one is just as good.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

// The advice for a region, as a value. All 0: nothing is known.
class RegionWord {
 public:
  constexpr RegionWord() = default;
  constexpr explicit RegionWord(Advice const& a) noexcept
      : bits_(whose(a.region) | std::uint64_t{a.trial} << 23 | std::uint64_t{a.size} << 12 |
              std::uint64_t{a.limit != 0} << 11 | a.maximum) {}

  constexpr std::uint32_t maximum() const noexcept { return field(0, 11); }
  constexpr bool is_limited() const noexcept { return field(11, 1) != 0; }
  constexpr std::uint32_t size() const noexcept { return field(12, 11); }
  constexpr std::uint32_t trial() const noexcept { return field(23, 5); }

  constexpr bool operator==(RegionWord const&) const = default;

 private:
  friend class RegionWords;
  constexpr explicit RegionWord(std::uint64_t bits) noexcept : bits_(bits) {}

  static constexpr std::uint64_t mixed(RegionId id) noexcept {
    auto const product = (id ^ id >> 32) * 0x9e3779b97f4a7c15U;
    return product ^ product >> 29;
  }
  // Two regions of a program are confused with a chance of 2^-36.
  static constexpr std::uint64_t whose(RegionId id) noexcept { return mixed(id) << 28; }
  constexpr bool is_of(std::uint64_t whose) const noexcept { return bits_ >> 28 == whose >> 28; }
  constexpr std::uint32_t field(int from, int width) const noexcept {
    return static_cast<std::uint32_t>(bits_ >> from & ((std::uint64_t{1} << width) - 1));
  }

  std::uint64_t bits_ = 0;
};

// Open addressing.
class RegionWords {
 public:
  // A region's word as it was when it was looked for, and where it is, or will be: a region that is
  // not known yet gets the first free place.
  class Seen {
   public:
    Seen() = default;
    RegionWord word() const noexcept { return word_; }
    bool is_unchanged() const noexcept {
      return place_ != nullptr && place_->load(sync::relaxed) == word_.bits_;
    }

   private:
    friend class RegionWords;
    Seen(sync::atomic<std::uint64_t> const* place, RegionWord word) noexcept
        : place_(place), word_(word) {}

    sync::atomic<std::uint64_t> const* place_ = nullptr;  // null: there is no place
    RegionWord word_{};
  };

  // By the program.
  Seen find(RegionId id) const noexcept {
    auto const whose = RegionWord::whose(id);
    for (std::size_t probe = 0; probe < longest_probe; ++probe) {
      auto const& place = words_[slot(id, probe)];
      RegionWord const word(place.load(sync::relaxed));
      if (word.bits_ == 0 || word.is_of(whose)) return {&place, word};
    }
    return {};
  }

  // By the coordinator. A region without a place is unknown here; no harm.
  void set(Advice const& advice) noexcept {
    RegionWord const word(advice);
    for (std::size_t probe = 0; probe < longest_probe; ++probe) {
      auto& place = words_[slot(advice.region, probe)];
      RegionWord const there(place.load(sync::relaxed));
      if (there.bits_ != 0 && !there.is_of(word.bits_)) continue;
      return place.store(word.bits_, sync::relaxed);
    }
  }

 private:
  static constexpr std::size_t room = 512, longest_probe = 32;

  static constexpr std::size_t slot(RegionId id, std::size_t probe) noexcept {
    return static_cast<std::size_t>((RegionWord::mixed(id) >> 55) + probe) % room;
  }

  std::array<sync::atomic<std::uint64_t>, room> words_{};
};

}  // namespace nigh::coordinator
