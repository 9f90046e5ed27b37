// SPDX-License-Identifier: Apache-2.0
// Spawners and workers around Parking, in the order of steps that src/runtime/worker.cpp takes
// them.

#include "runtime/parking.hpp"

#include <array>
#include <memory>

#include "letters.hpp"
#include "runtime/locality_queue.hpp"

namespace nigh::model {
namespace {

struct Machine {
  Machine(std::vector<std::vector<int>> workers_of, std::vector<std::vector<int>> wake_order)
      : parking(std::move(workers_of), wake_order, 2), reach(std::move(wake_order)) {
    for (std::size_t q = 0; q < reach.size(); ++q)
      queues.push_back(std::make_unique<tasks::LocalityQueue<Plain>>(4));
  }

  void spawn(int queue, int task) {
    std::array<Plain, 1> const one{Plain(task)};
    check(queues[static_cast<std::size_t>(queue)]->push(one), "there is room");
    parking.notify(queue, tasks::Parking::everywhere);
  }

  bool in_sight(int home) const {
    for (int q : reach[static_cast<std::size_t>(home)])
      if (!queues[static_cast<std::size_t>(q)]->empty()) return true;
    return false;
  }

  bool find(int home, int& task) {
    for (int q : reach[static_cast<std::size_t>(home)]) {
      std::array<Plain, 1> out;
      std::size_t taken = 0;
      if (queues[static_cast<std::size_t>(q)]->take(
              out, taken, [](auto) { return std::size_t{1}; }) == tasks::Take::taken) {
        task = out[0].get();
        return true;
      }
    }
    return false;
  }

  // Runs `tasks` tasks, then returns.
  template <class F>
  void work(int worker, int home, int tasks, F run) {
    for (int done = 0; done < tasks; ++done) {
      int task = -1;
      parking.start_searching(home);
      while (!find(home, task)) {
        parking.sleep(worker, home, [&] { return in_sight(home); });
        sync::pause();
      }
      if (parking.stop_searching(home) && in_sight(home))
        parking.notify(home, tasks::Parking::everywhere);
      run(task);
    }
  }

  tasks::Parking parking;
  std::vector<std::vector<int>> reach;  // whose queues a home's workers may take from
  std::vector<std::unique_ptr<tasks::LocalityQueue<Plain>>> queues;
};

// One spawner, one worker: the worker sleeps or takes, and is never forgotten.
Scenario one_worker() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>(std::vector<std::vector<int>>{{0}},
                                       std::vector<std::vector<int>>{{0}});
    run.threads = {[m] {
                     m->spawn(0, 0);
                     m->spawn(0, 1);
                   },
                   [m] { m->work(0, 0, 2, [](int) {}); }};
  };
}

// Two workers of one domain; the first task waits for the second one, so both workers are needed.
Scenario both_needed(bool two_domains) {
  return [two_domains](OneRun& run) {
    using lists = std::vector<std::vector<int>>;
    auto m = two_domains ? std::make_shared<Machine>(lists{{0}, {1}}, lists{{0, 1}, {1, 0}})
                         : std::make_shared<Machine>(lists{{0, 1}}, lists{{0}});
    auto met = std::make_shared<sync::atomic<std::uint32_t>>(0);
    auto const meet = [met](int) {
      if (met->fetch_add(1, sync::seq_cst) == 0)
        while (met->load(sync::seq_cst) == 1) platform::futex_wait(*met, 1);
      else
        platform::futex_wake_all(*met);
    };
    run.threads = {[=] {
                     m->spawn(0, 0);
                     m->spawn(0, 1);
                   },
                   [=] { m->work(0, 0, 1, meet); },
                   [=] { m->work(1, two_domains ? 1 : 0, 1, meet); }};
  };
}

Scenario ending() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>(std::vector<std::vector<int>>{{0, 1}},
                                       std::vector<std::vector<int>>{{0}});
    auto stopping = std::make_shared<sync::atomic<bool>>(false);
    auto const worker = [=](int w) {
      m->parking.start_searching(0);
      while (!stopping->load(sync::relaxed))
        m->parking.sleep(w, 0, [&] { return stopping->load(sync::seq_cst); });
      m->parking.stop_searching(0);
    };
    run.threads = {[=] {
                     stopping->store(true, sync::seq_cst);
                     m->parking.wake_all();
                   },
                   [=] { worker(0); }, [=] { worker(1); }};
  };
}

// The woken thread sees all that its waker did before.
Scenario handing_over() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>(std::vector<std::vector<int>>{{0}},
                                       std::vector<std::vector<int>>{{0}});
    auto data = std::make_shared<Plain>();
    run.threads = {[=] {
                     data->set(1);
                     m->parking.wake_all();
                     m->spawn(0, 0);
                   },
                   [=] {
                     m->parking.start_searching(0);
                     if (m->parking.sleep(0, 0, [&] { return m->in_sight(0); }))
                       check(data->get() == 1, "woken before the waker's work");
                     m->parking.stop_searching(0);
                   }};
  };
}

// One of the two sees the other.
Scenario idle_or_seen() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>(std::vector<std::vector<int>>{{0}},
                                       std::vector<std::vector<int>>{{0}});
    auto word = std::make_shared<sync::atomic<int>>(0);
    auto seen = std::make_shared<int>(0);
    run.threads = {[=] {
                     word->store(1, sync::seq_cst);
                     if (m->parking.anybody_idle()) ++*seen;
                   },
                   [=] {
                     m->parking.start_searching(0);
                     if (word->load(sync::seq_cst) == 1) ++*seen;
                   }};
    run.at_end = [seen] { check(*seen > 0, "one of the two sees the other"); };
  };
}

// An external thread computes in the worker's place, and leaves while another one spawns. The
// worker would sleep for a tenth of a second, which counts as for ever here.
Scenario put_back() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>(std::vector<std::vector<int>>{{0}},
                                       std::vector<std::vector<int>>{{0}});
    m->parking.displace(0);
    run.threads = {[m] { m->spawn(0, 0); },
                   [m] {
                     if (m->parking.put_back(0) && m->in_sight(0))
                       m->parking.notify(0, tasks::Parking::everywhere);
                   },
                   [m] {
                     int task = -1;
                     m->parking.start_searching(0);
                     for (;;) {
                       if (m->parking.is_displaced(0)) {
                         m->parking.sleep_displaced(0, 0, 100'000'000, [&] {
                           if (!m->parking.is_displaced(0)) return true;
                           if (m->in_sight(0)) m->parking.notify(0, tasks::Parking::everywhere);
                           return false;
                         });
                       } else if (m->find(0, task)) {
                         break;
                       } else {
                         m->parking.sleep(0, 0, [&] { return m->in_sight(0); });
                       }
                       sync::pause();
                     }
                     m->parking.stop_searching(0);
                   }};
  };
}

TEST(Parking, NobodyIsForgotten) {
  expect_holds(one_worker(), {.preemptions = 3});
  expect_holds(both_needed(false), {.preemptions = 2, .stale_reads = 1});
  expect_holds(both_needed(true), {.preemptions = 2, .stale_reads = 1});
  expect_holds(ending());
  expect_holds(handing_over());
  expect_holds(idle_or_seen());
  expect_holds(put_back());
}

TEST(Parking, S) { expect_needed("parking.S", Order::acq_rel, one_worker()); }
TEST(Parking, T) {
  expect_needed("parking.T", Order::acq_rel, both_needed(false), {.preemptions = 3});
}
TEST(Parking, D) { expect_needed("parking.D", Order::acq_rel, put_back()); }
TEST(Parking, I) { expect_needed("parking.I", Order::acq_rel, idle_or_seen()); }
TEST(Parking, W) { expect_needed("parking.W", Order::relaxed, handing_over()); }

}  // namespace
}  // namespace nigh::model
