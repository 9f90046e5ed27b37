// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts about each OpenMP runtime of the process, by the address of a function of its own. There
// are few, and none is ever removed.
//
// (known_runtimes.A) A thread that sees the address sees the rest.

#include <array>
#include <cstddef>

#include "base/atomic.hpp"

namespace nigh::openmp::tasks {

template <class Facts, std::size_t most>
class KnownRuntimes {
 public:
  // Null: it is not known yet.
  Facts const* find(void const* inside) const noexcept {
    for (auto const& entry : entries_)
      if (entry.inside.load(sync::acquire) == inside) return &entry.facts;  // (known_runtimes.A)
    return nullptr;
  }

  bool is_full() const noexcept { return entries_.back().inside.load(sync::relaxed) != nullptr; }

  template <class Is>
  Facts const* find_if(Is is) const noexcept {
    for (auto const& entry : entries_)
      if (entry.inside.load(sync::acquire) != nullptr && is(entry.facts))  // (known_runtimes.A)
        return &entry.facts;
    return nullptr;
  }

  // One thread at a time. look_up(facts) fills in new ones. Null: there are too many.
  template <class LookUp>
  Facts const* find_or_add(void const* inside, LookUp look_up) noexcept {
    for (auto& entry : entries_) {
      void const* const there = entry.inside.load(sync::relaxed);
      if (there == inside) return &entry.facts;
      if (there != nullptr) continue;
      look_up(entry.facts);
      entry.inside.store(inside, sync::release);  // (known_runtimes.A)
      return &entry.facts;
    }
    return nullptr;
  }

 private:
  struct Entry {
    sync::atomic<void const*> inside{nullptr};
    Facts facts{};
  };
  std::array<Entry, most> entries_{};
};

}  // namespace nigh::openmp::tasks
