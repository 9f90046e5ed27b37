// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parking: workers without tasks sleep here, and spawners wake them, nearest first.
//
// A worker is *active*, *searching* (awake, looking at queues) or *asleep*. Each queue group counts
// its searching and its sleeping workers in one word, because a spawner needs to know both at one
// moment: while a worker of the group searches, none has to be woken.
//
// A sleeper's own word:  awake --sleep()--> asleep --claim()--> claimed --> awake
//                          ^---- sleep() itself, on news ----'
// The thread that moves the word from asleep (the sleeper on news, or one waker) does the counting.
// A claimed sleeper stays asleep until its waker has counted, so a worker is never counted in two
// ways at once. Threads that wait for one event only sleep uncounted: no spawner looks for them.
//
// No task is forgotten: if a task waits, some worker that may take it is active or searching, or is
// being woken. The argument, over the single order of all seq_cst operations:
// (parking.S) The spawner stores tail_ (locality_queue.hpp), then notify() reads the counts, and
//     the words of the workers counted asleep. A worker that goes to sleep changes the counts, then
//     its word, then looks at all tail_s. If notify() did not see it asleep, in the counts or in
//     its word, the look comes after the store and finds the task. Tasks in a
//     shared task stack (detail/task_stack.hpp) count as tasks in a queue: publish() stores its
//     word as push() stores tail_. A sleeper that also waits for one event (a stolen task it has to
//     join) looks for it in news(). The thread that brings the event about stores it seq_cst and
//     calls wake(), which by the same argument finds the sleeper asleep, or the sleeper's look
//     finds the event.
// (parking.T) If notify() saw a searcher and woke nobody, the searcher later sleeps, and looks as
//     in (parking.S), or finds another task and passes the duty on: stop_searching() changes the
//     counts after notify() read them, and the last searcher of a group then looks at the queues
//     and calls notify() for what it sees.
// (parking.W) Waking hands over: the sleeper sees all that its waker did before. This goes for
//     threads that sleep on a word of their own, too (Worker::duty, Worker::asked_to).
// (parking.D) A worker is displaced while an external thread computes in its place. Then it begins
//     nothing, and sleeps for a time: notify() passes it by. The thread that puts it back lowers
//     `displaced`, and if the worker is in such a sleep, looks at all tail_s and calls notify(). If
//     notify() of a spawner still read it as displaced, that look comes after the spawner's store,
//     and finds the task. A worker that falls asleep says that it sleeps for a time, then reads
//     `displaced`: either it reads 0, or the thread that puts it back sees it asleep.
// (parking.I) A thread that stores a word (seq_cst) and then finds no worker idle is seen by
//     workers that begin to search later, when they look at that word.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "platform/futex.hpp"

namespace nigh::tasks {

class Parking {
 public:
  static constexpr int everywhere = std::numeric_limits<int>::max();

  // threads_of[g]: the workers and backup threads of queue group g; wake_order[g]: the groups whose
  // threads are woken for work there, in this order, g itself first. `thread_slots`: how many
  // threads may sleep here.
  Parking(std::vector<std::vector<int>> threads_of, std::vector<std::vector<int>> wake_order,
          std::size_t thread_slots)
      : threads_of_(std::move(threads_of)),
        wake_order_(std::move(wake_order)),
        counts_(std::make_unique<Counts[]>(threads_of_.size())),
        sleepers_(std::make_unique<Sleeper[]>(thread_slots)) {}

  void start_searching(int group) noexcept {
    counts(group).fetch_add(one_searching, sync::seq_cst);  // (parking.T) (parking.I)
  }

  // True for the last searcher of its group: it now has to look whether there is more work than the
  // task it found, and to notify() if so.
  bool stop_searching(int group) noexcept {
    auto const before = counts(group).fetch_sub(one_searching, sync::seq_cst);  // (parking.T)
    return searching(before) == 1;
  }

  // Puts a searching worker to sleep until it is woken, unless news() finds something first.
  // Afterwards the worker is searching again. Returns whether it slept.
  template <class News>
  bool sleep(int slot, int group, News news) noexcept {
    auto& state = sleepers_[static_cast<std::size_t>(slot)].state;
    if (!fall_asleep(state, group, news)) return false;
    await_waker(state);
    return true;
  }

  // The same for a displaced worker, and for at most that long. Returns whether it slept to the
  // end.
  template <class News>
  bool sleep_displaced(int slot, int group, std::int64_t most_ns, News news) noexcept {
    auto& [state, displaced, bides_its_time] = sleepers_[static_cast<std::size_t>(slot)];
    bides_its_time.store(true, sync::seq_cst);  // (parking.D)
    bool to_the_end = false;
    if (fall_asleep(state, group, news)) {
      platform::futex_wait_for(state, asleep, most_ns);
      to_the_end = wakes_itself(state, group);
      if (!to_the_end) await_waker(state);
    }
    bides_its_time.store(false, sync::relaxed);
    return to_the_end;
  }

  // Puts a thread that waits for one event only to sleep until wake() or news().
  template <class News>
  bool sleep_uncounted(int slot, News news) noexcept {
    auto& state = sleepers_[static_cast<std::size_t>(slot)].state;
    state.store(asleep_uncounted, sync::seq_cst);  // (parking.S)
    std::uint32_t expected = asleep_uncounted;
    if (news() && state.compare_exchange_strong(expected, awake, sync::relaxed)) return false;
    await_waker(state);
    return true;
  }

  // The same for at most that long. Returns whether it slept to the end.
  template <class News>
  bool sleep_uncounted_for(int slot, std::int64_t most_ns, News news) noexcept {
    auto& state = sleepers_[static_cast<std::size_t>(slot)].state;
    state.store(asleep_uncounted, sync::seq_cst);  // (parking.S)
    bool const has_news = news();
    if (!has_news) platform::futex_wait_for(state, asleep_uncounted, most_ns);
    std::uint32_t expected = asleep_uncounted;
    if (state.compare_exchange_strong(expected, awake, sync::relaxed)) return !has_news;
    await_waker(state);
    return false;
  }

  // The event that this thread waits for has come; `group` is where the thread is counted, if it
  // is.
  void wake(int slot, int group) noexcept {
    auto& state = sleepers_[static_cast<std::size_t>(slot)].state;
    auto const now = state.load(sync::seq_cst);  // (parking.S)
    if (now == asleep && claim(state, asleep)) {
      change_counts(group, one_searching - one_asleep, std::uint32_t(-1));
      release(state);
    } else if (now == asleep_uncounted && claim(state, asleep_uncounted)) {
      release(state);
    }
  }

  // An external thread computes in this worker's place, until put_back(). Were there others before?
  bool displace(int slot) noexcept {
    auto& sleeper = sleepers_[static_cast<std::size_t>(slot)];
    return sleeper.displaced.fetch_add(1, sync::seq_cst) > 0;  // (parking.D)
  }
  // True: the worker has its place again, and sleeps. The caller then has to look whether there is
  // work, and to notify() if so.
  bool put_back(int slot) noexcept {
    auto& sleeper = sleepers_[static_cast<std::size_t>(slot)];
    return sleeper.displaced.fetch_sub(1, sync::seq_cst) == 1 &&  // (parking.D)
           sleeper.bides_its_time.load(sync::seq_cst);            // (parking.D)
  }
  bool is_displaced(int slot) const noexcept {
    auto const& sleeper = sleepers_[static_cast<std::size_t>(slot)];
    return sleeper.displaced.load(sync::seq_cst) > 0;  // (parking.D)
  }

  // Call it after a task was put where the workers of `group`, and those of so many others of its
  // wake order, look for tasks: makes sure that one of them will look there.
  void notify(int group, int others) noexcept {
    auto const here = counts(group).load(sync::seq_cst);  // (parking.S) (parking.T)
    if (searching(here) > 0) return;
    if (sleeping(here) == 0) {
      if (others == 0 || asleep_anywhere_.load(sync::seq_cst) == 0) return;  // (parking.S)
    }
    for (auto const wake : {Wake::undisplaced, Wake::displaced_too}) {
      int left = others;
      for (int g : wake_order_[static_cast<std::size_t>(group)]) {
        if (sleeping(counts(g).load(sync::seq_cst)) > 0 && wake_one(g, wake))  // (parking.S)
          return;
        if (left-- == 0) break;
      }
    }
  }

  // If a task were put now, would it wait until somebody has been woken? Only a guess: it may have
  // changed before the caller knows.
  bool would_wake() const noexcept {
    if (asleep_anywhere_.load(sync::relaxed) == 0) return false;
    for (std::size_t g = 0; g < threads_of_.size(); ++g)
      if (searching(counts_[g].word.load(sync::relaxed)) > 0) return false;
    return true;
  }

  // A worker looks for work, or would if woken.
  bool anybody_idle() const noexcept {
    for (std::size_t g = 0; g < threads_of_.size(); ++g)
      if (counts_[g].word.load(sync::seq_cst) != 0) return true;  // (parking.I)
    return false;
  }

  // For the end of the runtime: wakes all who fell asleep before they saw the end coming.
  void wake_all() noexcept {
    for (std::size_t g = 0; g < threads_of_.size(); ++g)
      while (sleeping(counts(static_cast<int>(g)).load(sync::seq_cst)) > 0 &&  // (parking.S)
             wake_one(static_cast<int>(g), Wake::everybody)) {
      }
  }

 private:
  // Displaced ones too, other than those that know it already and bide their time; or these as
  // well.
  enum class Wake : std::uint8_t { undisplaced, displaced_too, everybody };

  static constexpr std::uint32_t awake = 0, asleep = 1, claimed = 2, asleep_uncounted = 3;
  static constexpr std::uint32_t one_searching = 1, one_asleep = 1u << 16;  // in a group's word

  struct alignas(64) Counts {
    sync::atomic<std::uint32_t> word{0};
  };
  struct alignas(64) Sleeper {
    sync::atomic<std::uint32_t> state{awake};
    sync::atomic<int> displaced{0};            // by so many threads
    sync::atomic<bool> bides_its_time{false};  // in sleep_displaced()
  };

  static std::uint32_t searching(std::uint32_t word) noexcept { return word & 0xffff; }
  static std::uint32_t sleeping(std::uint32_t word) noexcept { return word >> 16; }
  sync::atomic<std::uint32_t>& counts(int group) noexcept {
    return counts_[static_cast<std::size_t>(group)].word;
  }

  void change_counts(int group, std::uint32_t change, std::uint32_t change_anywhere) noexcept {
    counts(group).fetch_add(change, sync::seq_cst);              // (parking.S) (parking.T)
    asleep_anywhere_.fetch_add(change_anywhere, sync::seq_cst);  // (parking.S)
  }

  bool wake_one(int group, Wake wake) noexcept {
    for (int slot : threads_of_[static_cast<std::size_t>(group)]) {
      auto& [state, displaced, bides_its_time] = sleepers_[static_cast<std::size_t>(slot)];
      if (displaced.load(sync::seq_cst) > 0 &&  // (parking.D)
          (wake != Wake::everybody) &&
          (wake == Wake::undisplaced || bides_its_time.load(sync::relaxed)))
        continue;
      if (state.load(sync::seq_cst) != asleep || !claim(state, asleep)) continue;  // (parking.S)
      change_counts(group, one_searching - one_asleep, std::uint32_t(-1));
      release(state);
      return true;
    }
    return false;
  }

  template <class News>
  bool fall_asleep(sync::atomic<std::uint32_t>& state, int group, News const& news) noexcept {
    change_counts(group, one_asleep - one_searching, 1);
    state.store(asleep, sync::seq_cst);  // (parking.S) after counting: wakers claim the counted
    return !(news() && wakes_itself(state, group));
  }
  bool wakes_itself(sync::atomic<std::uint32_t>& state, int group) noexcept {
    std::uint32_t expected = asleep;
    if (!state.compare_exchange_strong(expected, awake, sync::relaxed)) return false;
    change_counts(group, one_searching - one_asleep, std::uint32_t(-1));
    return true;
  }

  static void await_waker(sync::atomic<std::uint32_t>& state) noexcept {
    for (;;) {
      auto const now = state.load(sync::acquire);  // (parking.W)
      if (now == awake) return;
      platform::futex_wait(state, now);
    }
  }

  static bool claim(sync::atomic<std::uint32_t>& state, std::uint32_t from) noexcept {
    return state.compare_exchange_strong(from, claimed, sync::relaxed);
  }
  static void release(sync::atomic<std::uint32_t>& state) noexcept {
    state.store(awake, sync::release);  // (parking.W)
    platform::futex_wake_one(state);
  }

  std::vector<std::vector<int>> threads_of_;
  std::vector<std::vector<int>> wake_order_;
  std::unique_ptr<Counts[]> counts_;
  std::unique_ptr<Sleeper[]> sleepers_;
  alignas(64) sync::atomic<std::uint32_t> asleep_anywhere_{0};
};

}  // namespace nigh::tasks
