// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searching: a thread of a runtime looks for work, and sleeps in between.
// Relief: another one does so in its place.

#include <cstdint>

#include "policy/stealing/idle.hpp"
#include "runtime/pool.hpp"
#include "runtime/worker.hpp"

namespace nigh::tasks {

// While one lives, `me` is awake and looks for work; if `counted`, spawners rely on it. Before, it
// publishes how many queued tasks it has finished.
struct Searching {
  Searching(Worker& me_, bool counted_) noexcept : me(me_), counted(counted_) {
    if (!me.is_external()) me.report_progress();
    if (counted) me.pool.parking.start_searching(me.group);
  }
  // The last searcher of a group passes on the duty to look, whether it leaves with a task or
  // because the event it waited for has come.
  ~Searching() {
    me.trace.resumed();
    if (counted && me.pool.parking.stop_searching(me.group) && me.pool.is_work_left(me.group))
      me.pool.parking.notify(me.group, Parking::everywhere);
  }
  Searching(Searching&&) = delete;

  template <class News>
  bool sleep(News news) noexcept {
    auto& parking = me.pool.parking;
    me.trace.parked();
    me.pool.arena->falls_asleep();
    bool const slept =
        counted ? parking.sleep(me.index, me.group, news) : parking.sleep_uncounted(me.index, news);
    me.pool.arena->woke();
    me.trace.unparked(slept);
    return slept;
  }

  // An external thread, for at most that long: the worker beside it may run meanwhile. True: it
  // slept to the end.
  template <class News>
  bool sleep_external(std::int64_t most_ns, News news) noexcept {
    me.trace.parked();
    me.pool.threads.put_back_neighbour(me);
    bool const to_the_end = me.pool.parking.sleep_uncounted_for(me.index, most_ns, news);
    me.pool.threads.displace_neighbour(me);
    me.trace.unparked(!to_the_end);
    return to_the_end;
  }

  // A displaced worker, for a moment. True: it slept to the moment's end.
  template <class News>
  bool sleep_displaced(News news) noexcept {
    me.trace.parked();
    me.pool.arena->falls_asleep();
    bool const slept = me.pool.parking.sleep_displaced(
        me.index, me.group, std::int64_t{policy::IdlePolicy{}.displaced_look_ms} * 1'000'000, news);
    me.pool.arena->woke();
    me.trace.unparked(slept);
    return slept;
  }

  Worker& me;
  bool const counted;
};

// While this lives, the backup thread of a worker with little stack left helps in its place.
struct Relief {
  Relief(Worker& me_, bool wanted) noexcept
      : me(me_), began(wanted && me.pool.threads.start_backup(me)) {}
  ~Relief() {
    if (began) me.pool.threads.dismiss_backup(me);
  }
  Relief(Relief&&) = delete;
  Worker& me;
  bool const began;
};

}  // namespace nigh::tasks
