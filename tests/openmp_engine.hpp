// SPDX-License-Identifier: Apache-2.0
#pragma once
// The engine of OpenMP tasks (src/openmp/tasks) without an OpenMP runtime: a test's threads are its
// teams, on cpus of a machine that is made up.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "openmp/tasks/team.hpp"

namespace nigh::test {

using namespace nigh::openmp::tasks;

// The machine has two packages of two domains of two L3 caches of two cores of two cpus. Packages
// are 32 apart, domains of one 12. Memory at a multiple of 64 KiB is in the domain of its number's
// remainder.
inline constexpr int engine_cpus = 32;

// Where the calling thread is from now on; -1: nobody knows.
void run_on(int cpu);

// A task whose body is f(), a child of what the calling thread runs. It has yet to be submitted.
template <class F>
Task& make_task(F f, std::uint16_t flags = 0) {
  static_assert(alignof(F) <= alignof(Task));
  Task* const t = new_task(*member, sizeof(F), flags);
  t->function = [](void* arguments) {
    auto* const body = static_cast<F*>(arguments);
    (*body)();
    body->~F();
  };
  new (t->block()) F(std::move(f));
  attach(*member, *t);
  return *t;
}

template <class F>
void spawn(F f, std::uint16_t flags = 0) {
  submit(*member, make_task(std::move(f), flags));
}

// As if(0): the calling thread runs f() as a task, at once.
template <class F>
void run_at_once(F f) {
  Task* const t = new_task(*member, 0, 0);
  Frame const before = begin_body(*member, *t);
  f();
  end_unattached_body(*member, *t, before);
}

// A runtime's barrier: threads that wait there run the tasks that the team calls for.
class RuntimeBarrier {
 public:
  void call(std::uint32_t tasks) {
    std::scoped_lock const here(lock_);
    calls_ += tasks;
    news_.notify_all();
  }
  void wait_for_all(Team& team, std::uint32_t size) {
    std::unique_lock here(lock_);
    auto const before = generation_;
    ++arrived_;
    for (;;) {
      if (calls_ != 0) {  // also late, when the others may be at the next barrier: as libgomp does
        --calls_;
        ++answering_;
        here.unlock();
        answer_call(team, 0);
        here.lock();
        --answering_;
      } else if (generation_ != before) {
        return;
      } else if (arrived_ == size && answering_ == 0) {
        arrived_ = 0;
        ++generation_;
      } else {
        news_.wait(here);
        continue;
      }
      news_.notify_all();
    }
  }

 private:
  std::mutex lock_;
  std::condition_variable news_;
  std::uint32_t arrived_ = 0, calls_ = 0, answering_ = 0, generation_ = 0;
};

struct EngineTeam : Team {
  RuntimeBarrier barrier;
};

// As at the end of a loop: the calling thread of a team waits in the runtime's barrier.
inline void runtime_barrier() {
  Member& me = *member;
  barrier_before_real(me);
  static_cast<EngineTeam*>(me.team)->barrier.wait_for_all(*me.team, me.size);
  if (me.is_elsewhere || me.owes_call) come_from_real(me);
}

// body(k) in thread k of a team, on the k-th of these cpus. All threads leave together, as behind a
// runtime's own barrier. `lease`: theirs; null: they stay where they are.
template <class Body>
void in_team(std::vector<int> const& cpus, Body body, openmp::RunningLease* lease = nullptr) {
  auto const size = static_cast<std::uint32_t>(cpus.size());
  EngineTeam team;
  team.cpus.store(std::thread::hardware_concurrency(), sync::relaxed);
  team.lease = lease;
  team.call = [](Team& called, std::uint32_t tasks) noexcept {
    static_cast<EngineTeam&>(called).barrier.call(tasks);
  };
  std::vector<std::thread> threads;
  for (std::uint32_t k = 0; k < size; ++k)
    threads.emplace_back([&, k] {
      run_on(cpus[k]);
      enter(team, {size, k, static_cast<std::int32_t>(k)});
      body(k);
      leave();
      team.barrier.wait_for_all(team, size);
    });
  for (auto& t : threads) t.join();
  end(team);
}

}  // namespace nigh::test
