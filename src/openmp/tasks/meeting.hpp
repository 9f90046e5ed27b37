// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the threads of a team find each other: who is there, in which domains they are, and whether
// all have arrived at a barrier.
//
// (meeting.M) A thief that finds a member sees it whole: put() releases what at() acquires.
// (meeting.Q) Of several threads that need a thing, one makes it, and all see it made.
// (meeting.E) A thread that finds that all have entered sees the domains of all.
// (meeting.G) All that go on behind a barrier see what any thread did before it arrived: each
//     arrival releases that to the last one (read-modify-writes carry it on), which releases it
//     with the generation.
// (meeting.L) No thread waits in the runtime's barrier that nobody calls while there are tasks: it
//     stores that it goes there, then looks whether tasks were ever shared; who shares the first
//     one stores that, has all threads pass a fence, then looks who is there. Each thread's half of
//     that fence costs nothing: a store that has to be seen before the next load would wait for
//     lines that other threads have, once in each region.

#include <array>
#include <cstdint>
#include <new>

#include "base/atomic.hpp"

namespace nigh::openmp::tasks {

template <class T>
class MadeOnce {
 public:
  T* get() const noexcept { return made_.load(sync::acquire); }  // (meeting.Q)
  // For a thread that goes to sleep unless there is something in it.
  T* get_before_sleep() const noexcept { return made_.load(sync::seq_cst); }  // (sleeper.S)
  // Of a thread without others.
  T* get_alone() const noexcept { return made_.load(sync::relaxed); }

  // make(): a new one, or null. unmake(it): another thread was faster.
  template <class Make, class Unmake>
  T* get_or(Make make, Unmake unmake) noexcept {
    T* now = get();
    if (now != nullptr) return now;
    T* const made = make();
    if (made == nullptr || made_.compare_exchange_strong(now, made, sync::acq_rel))  // (meeting.Q)
      return made;
    unmake(made);
    return now;
  }

 private:
  sync::atomic<T*> made_{nullptr};
};

// Of constructs that each have one thread do something, and all wait for it: who comes first?
class FirstComers {
 public:
  // `come`: to how many of them the calling thread has come. All that the others get goes by a
  // barrier.
  bool is_first(std::uint32_t& come) noexcept {
    auto begun = come++;
    return begun_.compare_exchange_strong(begun, come, sync::relaxed);
  }

 private:
  sync::atomic<std::uint32_t> begun_{0};
};

// The team's members by their numbers.
template <class Member, std::uint32_t few>
class MemberTable {
  using Slot = sync::atomic<Member*>;

 public:
  // False: there is no memory.
  bool put(std::uint32_t size, std::uint32_t number, Member& member) noexcept {
    Slot* const slots = size <= few ? first_.data()
                                    : more_.get_or([=] { return new (std::nothrow) Slot[size]{}; },
                                                   [](Slot* made) { delete[] made; });
    if (slots == nullptr) return false;
    slots[number].store(&member, sync::release);  // (meeting.M)
    return true;
  }

  // Null: it has not come yet.
  Member* at(std::uint32_t number) const noexcept {
    Slot const* slots = more_.get();
    if (slots == nullptr && number < few) slots = first_.data();
    return slots == nullptr ? nullptr : slots[number].load(sync::acquire);  // (meeting.M)
  }

  // When nobody looks at it any more.
  void clear() noexcept { delete[] more_.get_alone(); }

 private:
  MadeOnce<Slot> more_;  // in place of first_
  // A thread that comes writes here, and need not wait for the line.
  alignas(64) std::array<Slot, few> first_{};
};

// In which domains members are.
class TeamDomains {
 public:
  void add(std::uint32_t domain) noexcept {
    domains_.fetch_or(std::uint64_t{1} << domain, sync::relaxed);
    entered_.fetch_add(1, sync::release);  // (meeting.E)
  }
  // All members have entered, and none is there.
  bool is_deserted(std::uint32_t domain, std::uint32_t size) const noexcept {
    return entered_.load(sync::acquire) == size &&  // (meeting.E)
           (domains_.load(sync::relaxed) >> domain & 1U) == 0;
  }

 private:
  sync::atomic<std::uint64_t> domains_{0};
  sync::atomic<std::uint32_t> entered_{0};
};

// Whether other threads could ever have found a task of the region. Until then they have nowhere to
// look.
class EverShared {
 public:
  // Before a task is where others look. True: the first of the region is.
  bool note() noexcept {
    return !is_so() && !is_so_.exchange(true, sync::seq_cst);  // (sleeper.S) (meeting.L)
  }
  bool is_so() const noexcept { return is_so_.load(sync::relaxed); }
  // For a thread that goes to sleep, or to the runtime's barrier, unless there is one.
  bool is_so_before_wait() const noexcept {
    return is_so_.load(sync::seq_cst);  // (sleeper.S) (meeting.L)
  }

 private:
  sync::atomic<bool> is_so_{false};
};

// Whether a thread waits for the others in the runtime's barrier, and not in ours.
class Elsewhere {
 public:
  // A new region's barriers are counted anew, from 1 on.
  void begin() noexcept { barrier_.store(nowhere, sync::relaxed); }
  // Before it goes there, and before it looks whether tasks were ever shared.
  void go(std::uint64_t barrier) noexcept {
    barrier_.store(barrier, sync::release);  // (meeting.G)
    sync::light_fence();                     // (meeting.L)
  }
  // By the thread that shares the first task, behind its half of the fence. True: this one is
  // there, counts as arrived from now on, and is to be called.
  bool call(std::uint64_t barrier) noexcept {
    return barrier_.compare_exchange_strong(barrier, nowhere, sync::acquire);  // (meeting.G)
  }
  // By the thread: it is there, or was until it was called.
  bool is_called() const noexcept { return barrier_.load(sync::relaxed) == nowhere; }
  // By the thread, when there are tasks after all. False: it was called.
  bool stay(std::uint64_t barrier) noexcept {
    return barrier_.compare_exchange_strong(barrier, nowhere, sync::relaxed);
  }

 private:
  static constexpr std::uint64_t nowhere = 0;
  sync::atomic<std::uint64_t> barrier_{nowhere};
};

class Arrivals {
 public:
  // `threads`: the calling one, or others that are Elsewhere. True: all have arrived, and sleepers
  // are to be woken.
  bool arrive(std::uint32_t size, std::uint32_t threads = 1) noexcept {
    auto const before = generation_.load(sync::relaxed);
    if (arrived_.fetch_add(threads, sync::acq_rel) + threads != size) return false;  // (meeting.G)
    arrived_.store(0, sync::relaxed);
    generation_.store(before + 1, sync::seq_cst);  // (meeting.G) (sleeper.S)
    return true;
  }
  // `before`: how often all had arrived before the calling thread did.
  bool has_gone_on(std::uint32_t before) const noexcept {
    return generation_.load(sync::seq_cst) != before;  // (meeting.G) (sleeper.S)
  }

 private:
  sync::atomic<std::uint32_t> arrived_{0}, generation_{0};
};

}  // namespace nigh::openmp::tasks
