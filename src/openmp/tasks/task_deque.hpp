// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a team thread's tasks wait: a split deque of pointers. The tasks themselves may outlive the
// task that made them, so they lie elsewhere (task.hpp). It is the split stack of
// nigh/detail/task_stack.hpp with a ring instead of slots in place.
//
//      ring       tail          split               top            limit
//        │ stolen  │   shared     │     private      │    free       │
//        └─────────┴──────────────┴──────────────────┴───────────────┘
//
//   owner   push, pop at top; publish moves split up, reclaim moves it down; one thread
//   thief   steal at tail, any thread
//
// Tail, split and a count of changes share one word. A thief reads the tasks before it takes them,
// because the owner may write their places anew as soon as tail has moved; the compare-exchange of
// the word then says whether what it read was still there.
//
// Invariant: tail <= split <= top <= tail + capacity, as positions that only the word's 16 bits
// wrap.
//
// (deque.C) A task is seen whole: publish() releases the word after the place was written, a thief
//     acquires the word before it reads the place. Changes in between are read-modify-writes, which
//     carry the release on.
// (deque.R) A place is written anew only after its thief has read it: a thief releases the word
//     when it moves tail, the owner acquires the word in make_room().
// (deque.V) A thief whose word is out of date may read a task that was put in the place since. It
//     reads it in vain, but must find it whole: push() releases the place, the thief acquires it.
// (deque.N) A thief that is slow takes nothing that has changed: each steal and each reclaim counts
//     one change, so the word that it expects comes back after 2^32 of them at the earliest.
// A sleeper misses no published task by (sleeper.S).
//
// An owner may be away for long, in code that knows nothing of tasks, and may even wait there for
// one of its private ones. Another thread that has found nothing then publishes these in its place.
// The owner's hot paths have no fence for that: the other thread makes each thread of the process
// pass one. So whatever push() gets may be run, and end, at once: all who wait for it count it
// before.
//
// (deque.A) Of a private task, either the owner's pop sees that split has passed it, or the other
//     thread sees that it is gone: each stores its side, passes a fence, and loads the other's.
// (deque.B) The owner's own changes of split and the other thread exclude each other in the same
//     way, by is_changing_ and is_helped_; who begins sees what was before.
// (deque.P) The other thread sees whole tasks below top: the owner releases top, it acquires it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "platform/give_way.hpp"

namespace nigh::openmp::tasks {

enum class Steal : std::uint8_t {
  taken,
  lost,    // somebody was faster
  empty,   // nothing is shared
  barred,  // the oldest one may not be run on top of what the thief waits for
};

// `Place` holds a task, and a change counts `change`: tests of the letters have others.
template <class T, std::uint32_t capacity, class Place = sync::atomic<T*>, std::uint32_t change = 1>
class TaskDeque {
  static_assert(capacity <= 1U << 15U && (capacity & (capacity - 1)) == 0);

 public:
  // How many tasks should be shared, if there are. Many at first, for the owner of coarse tasks may
  // not come by again for long; half as many each time that the owner has to take shared ones back,
  // twice as many each time that thieves have left none.
  static constexpr std::uint32_t least_goal = 4, largest_goal = capacity / 4;

  // Owner, with nothing in it: from now on at most so many tasks. `is_alone`: nobody steals.
  void begin(std::uint32_t most, bool is_alone) noexcept {
    most_ = std::min(most, capacity);
    limit_ = top() + most_;
    goal_ = is_alone ? 0 : largest_goal;
    wanted_.store(!is_alone, sync::relaxed);
  }

  std::uint32_t top() const noexcept { return top_.load(sync::relaxed); }
  bool is_shut() const noexcept { return most_ == 0; }
  bool is_wanted() const noexcept { return wanted_.load(sync::relaxed); }
  // Others: it was so a moment ago.
  bool has_private() const noexcept { return count_private() != 0; }
  // Owner: thieves may have taken more.
  std::uint32_t waiting() const noexcept {
    return shared_in(word_.load(sync::relaxed)) + count_private();
  }

  // Owner; false: it is full.
  bool push(T* task) noexcept {
    if (top() == limit_ && !make_room()) [[unlikely]]
      return false;
    return push_at_hand(task);
  }
  bool has_room_at_hand() const noexcept { return top() != limit_; }
  // Owner: the same for hot paths, which leave the rest to push(): false where nobody has looked
  // yet what thieves have left.
  bool push_at_hand(T* task) noexcept {
    auto const at = top();
    if (at == limit_) [[unlikely]]
      return false;
    ring_[at % capacity].store(task, sync::release);  // (deque.V)
    top_.store(at + 1, sync::release);                // (deque.P)
    return true;
  }

  // Owner: the newest task above `base`; null when there is none, or thieves have it.
  T* pop(std::uint32_t base) noexcept {
    auto const above = top();
    if (above == base) return nullptr;
    while (!take_private(above - 1)) [[unlikely]] {
      top_.store(above, sync::release);  // (deque.P)
      if (!reclaim()) return nullptr;
    }
    return ring_[(above - 1) % capacity].load(sync::relaxed);
  }

  // Owner: lets thieves have the older half of the private tasks, or what the goal asks for.
  // Returns whether there was any.
  bool publish() noexcept {
    Changing const now(*this);
    auto const is_private = count_private();
    if (is_private == 0) return false;
    wanted_.store(false, sync::relaxed);  // first, so that a thief of these may set it again
    auto const left = shared_in(word_.load(sync::relaxed));
    if (left == 0) goal_ = std::min(goal_ * 2, largest_goal);
    auto const missing = left < goal_ ? goal_ - left : 0;
    auto const n = std::max((is_private + 1) / 2, std::min(is_private, missing));
    split_.store(split_.load(sync::relaxed) + n, sync::relaxed);
    auto const before =
        word_.fetch_add(std::uint64_t{n} << 16U, sync::seq_cst);  // (deque.C) (sleeper.S)
    if (2 * (shared_in(before) + n) < goal_) wanted_.store(true, sync::relaxed);
    return true;
  }
  // Owner: all of them, because it will not look again for long.
  bool publish_all() noexcept {
    Changing const now(*this);
    auto const n = count_private();
    if (n == 0) return false;
    split_.store(top(), sync::relaxed);
    word_.fetch_add(std::uint64_t{n} << 16U, sync::seq_cst);  // (deque.C) (sleeper.S)
    return true;
  }

  // Another thread: the same for the owner, unless that is just at it. `everywhere`: a fence that
  // each thread of the process passes. Returns whether there was any.
  template <class Everywhere>
  bool publish_for_owner(Everywhere everywhere) noexcept {
    if (is_helped_.exchange(true, sync::acquire)) return false;  // (deque.B) by another one
    everywhere();                                                // (deque.B)
    bool const has = !is_changing_.load(sync::acquire) && move_split(everywhere);  // (deque.B)
    is_helped_.store(false, sync::release);                                        // (deque.B)
    return has;
  }

  // In a child of fork(), which does not have the thread that was at it: as far as the word says.
  void forget_helper() noexcept {
    if (!is_helped_.load(sync::relaxed)) return;
    auto const end_of_shared = split_of(word_.load(sync::relaxed));
    split_.store(top() - ((top() - end_of_shared) & 0xffffU), sync::relaxed);
    is_helped_.store(false, sync::relaxed);
  }

  // Thief: takes the oldest shared task, if may(it), and the next ones as long as goes_with(oldest,
  // next), at most chunk(shared tasks) in all. Puts them into `taken`, oldest first.
  template <std::size_t room, class Chunk, class May, class GoesWith>
  Steal steal(std::array<T*, room>& taken, std::uint32_t& count, Chunk chunk, May may,
              GoesWith goes_with) noexcept {
    auto word = word_.load(sync::acquire);  // (deque.C)
    auto const n = shared_in(word);
    if (n == 0) {
      if (!wanted_.load(sync::relaxed)) wanted_.store(true, sync::relaxed);
      return Steal::empty;
    }
    auto const tail = tail_of(word);
    auto const most = std::min(chunk(n), static_cast<std::uint32_t>(room));
    std::uint32_t wish = 0;
    for (; wish < most; ++wish) {
      taken[wish] = ring_[(tail + wish) % capacity].load(sync::acquire);  // (deque.V)
      if (wish > 0 && !goes_with(*taken[0], *taken[wish])) break;
    }
    if (!may(*taken[0])) return Steal::barred;
    auto const now = pack(tail + wish, split_of(word), changes_of(word) + change);     // (deque.N)
    if (!word_.compare_exchange_strong(word, now, sync::release)) return Steal::lost;  // (deque.R)
    count = wish;
    if (n - wish < least_goal / 2) wanted_.store(true, sync::relaxed);
    return Steal::taken;
  }

  // For those about to sleep.
  bool has_shared() const noexcept {
    return shared_in(word_.load(sync::seq_cst)) != 0;  // (sleeper.S)
  }

 private:
  static constexpr std::uint64_t pack(std::uint32_t tail, std::uint32_t split,
                                      std::uint32_t changes) noexcept {
    return (tail & 0xffffU) | std::uint64_t{split & 0xffffU} << 16U | std::uint64_t{changes} << 32U;
  }
  static constexpr std::uint32_t tail_of(std::uint64_t w) noexcept { return w & 0xffffU; }
  static constexpr std::uint32_t split_of(std::uint64_t w) noexcept { return (w >> 16U) & 0xffffU; }
  static constexpr std::uint32_t changes_of(std::uint64_t w) noexcept {
    return static_cast<std::uint32_t>(w >> 32U);
  }
  static constexpr std::uint32_t shared_in(std::uint64_t w) noexcept {
    return (split_of(w) - tail_of(w)) & 0xffffU;
  }
  static constexpr bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }
  // 0 for who sees an old top beside a new split.
  std::uint32_t count_private() const noexcept {
    auto const split = split_.load(sync::relaxed), above = top();
    return is_before(split, above) ? above - split : 0;
  }

  // The owner changes split, or relies on it and the word together.
  class Changing {
   public:
    explicit Changing(TaskDeque& deque) noexcept : deque_(deque) {
      for (int looks = 0;; ++looks) {
        deque_.is_changing_.store(true, sync::relaxed);
        sync::light_fence();                                 // (deque.B)
        if (!deque_.is_helped_.load(sync::acquire)) return;  // (deque.B)
        deque_.is_changing_.store(false, sync::release);     // (deque.B)
        platform::give_way(looks);
      }
    }
    ~Changing() { deque_.is_changing_.store(false, sync::release); }  // (deque.B)
    Changing(Changing&&) = delete;
    Changing& operator=(Changing&&) = delete;

   private:
    TaskDeque& deque_;
  };

  // As publish_all(), while the owner pops and pushes. Top is below split for a moment where it
  // pops in vain.
  template <class Everywhere>
  bool move_split(Everywhere everywhere) noexcept {
    auto const split = split_.load(sync::relaxed);
    auto const above = top_.load(sync::acquire);  // (deque.P)
    if (!is_before(split, above)) return false;
    split_.store(above, sync::relaxed);
    everywhere();                               // (deque.A)
    auto const now = top_.load(sync::acquire);  // (deque.P)
    auto const end = is_before(now, above) ? now : above;
    auto const n = is_before(split, end) ? end - split : 0;
    split_.store(split + n, sync::relaxed);
    if (n != 0) word_.fetch_add(std::uint64_t{n} << 16U, sync::seq_cst);  // (deque.C) (sleeper.S)
    return n != 0;
  }

  bool make_room() noexcept {
    Changing const now(*this);
    auto const used = shared_in(word_.load(sync::acquire)) + count_private();  // (deque.R)
    if (used >= most_) return false;
    limit_ = top() + (most_ - used);
    return true;
  }

  // The newest task, if it is private; else top is to be set back.
  bool take_private(std::uint32_t newest) noexcept {
    top_.store(newest, sync::release);  // (deque.P)
    sync::light_fence();                // (deque.A)
    return !is_before(newest, split_.load(sync::relaxed));
  }

  // Takes back half of what is shared, so that the newest task is private. It may be private
  // already where another thread helped.
  bool reclaim() noexcept {
    Changing const changing(*this);
    if (count_private() != 0) return true;
    auto word = word_.load(sync::relaxed);
    for (;;) {
      auto const n = shared_in(word);
      if (n == 0) return false;
      auto const kept = n / 2;
      auto const now =
          pack(tail_of(word), tail_of(word) + kept, changes_of(word) + change);  // (deque.N)
      if (!word_.compare_exchange_strong(word, now, sync::relaxed)) continue;
      split_.store(split_.load(sync::relaxed) - (n - kept), sync::relaxed);
      goal_ = goal_ == 0 ? 0 : std::max(goal_ / 2, least_goal);
      if (kept < goal_) wanted_.store(true, sync::relaxed);
      return true;
    }
  }

  // The owner's own; who helps writes split_, too.
  sync::atomic<std::uint32_t> top_{0}, split_{0};
  std::uint32_t limit_ = 0, most_ = 0, goal_ = 0;
  sync::atomic<bool> is_changing_{false}, is_helped_{false};
  // Thieves write here.
  alignas(64) sync::atomic<std::uint64_t> word_{0};
  sync::atomic<bool> wanted_{false};
  alignas(64) std::array<Place, capacity> ring_{};
};

}  // namespace nigh::openmp::tasks
