// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pointer by which threads find an object that another thread has made.
//
// (published.P) A thread that finds the object sees it whole: the thread that publishes it
//     releases the pointer, and the thread that reads it acquires it.

#include "base/atomic.hpp"
#include "base/race_detector.hpp"

namespace nigh::base {

template <class T>
class Published {
 public:
  // Null: nothing is published.
  T* get() const noexcept {
    auto* const object = object_.load(sync::acquire);  // (published.P)
    announce_acquire(&object_);
    return object;
  }

  void set(T* object) noexcept {
    announce_release(&object_);
    object_.store(object, sync::release);  // (published.P)
  }

  // Publishes `object` in place of `known`. False: another thread was faster, and `known` is what
  // that thread has published.
  bool replace(T*& known, T* object) noexcept {
    announce_release(&object_);
    bool const first =
        object_.compare_exchange_strong(known, object, sync::acq_rel);  // (published.P)
    announce_acquire(&object_);
    return first;
  }

 private:
  sync::atomic<T*> object_{nullptr};
};

}  // namespace nigh::base
