// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tasks of a program, kept whole: who spawns whom, and what each costs.
//
// Tasks are numbered in preorder, so a task's children follow it: the first right behind it, the
// next behind all that is below the first. A tree of a hundred million tasks takes four bytes a
// task, and may be run again and again without computing its SHA-1s anew.
//
// Programs whose tasks wait for each other go in phases: the tasks of one are there when all of
// the phase before have ended.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shapes/uts_tree.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

using TaskId = std::uint32_t;

struct TaskPhase {
  TaskId begin = 0, end = 0;  // its tasks and all below them
  Time before_ns = 0;         // what the submitter does alone, first
};

struct TaskForest {
  std::string name;
  std::vector<std::uint32_t> size;  // of the subtree, the task itself included
  std::vector<std::uint32_t> cost;  // [task], ns; empty: each costs each_ns
  Time each_ns = 0;
  Time spawn_ns = 0;  // what a task costs beyond that, for having been made
  int bytes = 0;      // of a task, when it is copied to a thief
  std::vector<TaskPhase> phases;
  bool any_submits = false;  // a phase's tasks need no other's: each worker may submit a part

  std::size_t tasks() const noexcept { return size.size(); }
  Time run_of(TaskId t) const noexcept {
    return cost.empty() ? each_ns : static_cast<Time>(cost[t]);
  }
  // Of one core that runs it all, where making a task takes so long.
  Time work(Time making_ns) const noexcept;
  Time work() const noexcept { return work(spawn_ns); }

  // Calls each(task) for those between begin and end that lie below no other one there.
  template <class Each>
  void for_roots(TaskId begin, TaskId end, Each each) const {
    for (TaskId t = begin; t < end; t += size[t]) each(t);
  }
  template <class Each>
  void for_children(TaskId t, Each each) const {
    for_roots(t + 1, t + size[t], each);
  }
};

// The programs of Min, Iancu and Yelick (2011). How they were told from the numbers of tasks that
// the paper gives is in task_forest.cpp.
TaskForest fib_tasks(int n);
TaskForest queens_tasks(int n, int cutoff);
TaskForest sparselu_tasks(int blocks);
TaskForest uts_tasks(std::string name, uts::Tree const& tree);

// By name: fib, nqueens, sparselu or one of uts::known_trees(); no tasks when it is none.
TaskForest paper_tasks(std::string const& name);
std::vector<std::string> uts_names();
std::vector<std::string> paper_names();

}  // namespace nigh::sim
