// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nigh/detail/task_edges.hpp>

#include "letters.hpp"

namespace nigh::detail {

struct task_record {  // stands for that of task_handle.hpp
  arrivals predecessors;
  successor_list successors;
  use_count users{2};
  model::Plain result, runs;
};

}  // namespace nigh::detail

namespace nigh::model {
namespace {

using detail::task_edge;
using detail::task_record;

struct Edge : task_edge {
  Plain written;
};

struct Graph {
  task_record first, second, last;
  Edge edges[2];

  void run(int expected) {
    check(last.result.get() == 0 && last.runs.get() == 0, "it runs once");
    last.runs.set(1);
    check(first.result.get() + second.result.get() == expected, "predecessors have ended");
  }
  void end(task_record& task, int result, int expected) {
    task.result.set(result);
    for (auto* edge = task.successors.close(); edge != nullptr;) {
      auto& to = *edge->to;
      check(static_cast<Edge*>(edge)->written.get() == 1, "the edge is whole");
      edge = edge->next;
      if (to.predecessors.arrive()) run(expected);
    }
  }
  void come_after(task_record& task, Edge& edge, int result) {
    edge.to = &last;
    edge.written.set(1);
    if (task.successors.add(edge)) return;
    check(task.result.get() == result, "the outcome is there");
    static_cast<void>(last.predecessors.arrive());
  }
};

// A task is made after two others while these end.
Scenario two_predecessors() {
  return [](OneRun& run) {
    auto g = std::make_shared<Graph>();
    run.threads = {[g] { g->end(g->first, 1, 3); }, [g] { g->end(g->second, 2, 3); },
                   [g] {
                     g->last.predecessors.expect(3);
                     g->come_after(g->first, g->edges[0], 1);
                     g->come_after(g->second, g->edges[1], 2);
                     if (g->last.predecessors.arrive()) g->run(3);
                   }};
    run.at_end = [g] { check(g->last.runs.get() == 1, "it has run"); };
  };
}

// Two tasks are made after one, by two threads.
Scenario two_successors() {
  return [](OneRun& run) {
    auto g = std::make_shared<Graph>();
    auto const after_first = [g](task_record& task, Edge& edge) {
      task.predecessors.expect(2);
      edge.to = &task;
      edge.written.set(1);
      if (!g->first.successors.add(edge)) {
        check(g->first.result.get() == 1, "the outcome is there");
        static_cast<void>(task.predecessors.arrive());
      }
      if (task.predecessors.arrive()) task.runs.set(task.runs.get() + 1);
    };
    run.threads = {[g] {
                     g->first.result.set(1);
                     for (auto* edge = g->first.successors.close(); edge != nullptr;) {
                       auto& to = *edge->to;
                       check(static_cast<Edge*>(edge)->written.get() == 1, "the edge is whole");
                       edge = edge->next;
                       if (to.predecessors.arrive()) to.runs.set(to.runs.get() + 1);
                     }
                   },
                   [g, after_first] { after_first(g->second, g->edges[0]); },
                   [g, after_first] { after_first(g->last, g->edges[1]); }};
    run.at_end = [g] {
      check(g->second.runs.get() == 1 && g->last.runs.get() == 1, "each has run once");
    };
  };
}

// Two handles are used and dropped.
Scenario two_users() {
  return [](OneRun& run) {
    auto g = std::make_shared<Graph>();
    auto const use = [g](Plain& mine) {
      mine.set(1);
      if (g->first.users.release())  // destroys it
        check(g->first.result.get() + g->first.runs.get() == 2, "both have used it");
    };
    run.threads = {[g, use] { use(g->first.result); }, [g, use] { use(g->first.runs); }};
  };
}

TEST(TaskGraph, RunsEachTaskAfterItsPredecessors) { expect_holds(two_predecessors()); }
TEST(TaskGraph, TellsEachSuccessor) { expect_holds(two_successors()); }
TEST(TaskGraph, IsDestroyedAfterItsUse) { expect_holds(two_users()); }
TEST(TaskGraph, S) { expect_needed("task_edges.S", Order::relaxed, two_predecessors()); }
TEST(TaskGraph, P) { expect_needed("task_edges.P", Order::relaxed, two_predecessors()); }
TEST(TaskGraph, R) { expect_needed("task_edges.R", Order::relaxed, two_users()); }

}  // namespace
}  // namespace nigh::model
