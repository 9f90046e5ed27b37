// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects that one thread takes and any thread gives back, for the next ones that it takes. From
// malloc() each would take a lock of the heap, for which the thread that makes tasks and those that
// end them would wait in turn; and the same few objects stay in the caches.
//
// An object is constructed once, and never destroyed or unmapped.
// It comes back by (task.F).

#include <cstddef>
#include <new>

#include "openmp/tasks/task.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {

template <class T>
class Kept {
  struct Place {
    T object;  // first, so that it has the place's address
    Kept* home = nullptr;
    Place* next = nullptr;

    void set_next_free(Place* after) noexcept { next = after; }
  };

 public:
  // The thread whose they are: as it was given back. Null: there is no memory.
  T* take() noexcept {
    if (free_ == nullptr) free_ = returned_.take_all();
    if (free_ == nullptr && !map_more()) return nullptr;
    Place* const place = free_;
    free_ = place->next;
    return &place->object;
  }
  // Any thread, and also a signal handler that has interrupted take().
  static void give_back(T* object) noexcept {
    auto* const place = reinterpret_cast<Place*>(object);
    place->home->returned_.give_back(place);
  }

 private:
  bool map_more() noexcept {
    constexpr std::size_t chunk_bytes = 65536;
    auto* const memory = static_cast<char*>(platform::map_zeroes(chunk_bytes));
    if (memory == nullptr) return false;
    for (std::size_t i = chunk_bytes / sizeof(Place); i-- > 0;) {
      auto* const place = new (memory + i * sizeof(Place)) Place;
      place->home = this;
      place->next = free_;
      free_ = place;
    }
    return true;
  }

  Place* free_ = nullptr;
  alignas(64) Returned<Place> returned_;
};

}  // namespace nigh::openmp::tasks
