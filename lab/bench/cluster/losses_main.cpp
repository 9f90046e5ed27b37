// SPDX-License-Identifier: Apache-2.0
// cluster-losses: solves one problem again and again by supervised tasks of all ranks, while ranks
// kill themselves at given times. Each event goes to a file as a line:
//
//   SECONDS RANK begins            before the first solution
//   SECONDS RANK done COUNT        nodes of a tree or cells of a grid; each 20 ms
//   SECONDS RANK killed            right before its SIGKILL
//   SECONDS RANK lost COUNT        ranks that it knows to be lost
//   SECONDS RANK again COUNT       tasks of lost ranks that it has begun
//   SECONDS RANK solved COUNT      problems
//   SECONDS RANK ends SOLVED WRONG AGAIN
//
// SECONDS are those of CLOCK_MONOTONIC, which the processes of one machine share.
#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nigh/cluster.hpp>
#include <nigh/cluster_checkpoint.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/cluster/loss_problem.hpp"
#include "bench/options.hpp"
#include "tasks/uts.hpp"

namespace {

using namespace bench;
using Clock = std::chrono::steady_clock;

LossProblem problem;
std::atomic<std::uint64_t> done{0};  // nodes or cells of this rank; only a count

// ---- a tree: a task for each node

template <int most>
std::uint64_t explore(uts::Node const node) {
  done.fetch_add(1, std::memory_order_relaxed);
  int const children = uts::children_of(problem.tree->tree, node);
  if (children == 0) return 1;
  uts::Found<most> found(children);
  nigh::cluster::task_scope scope;
  for (int c = children - 1; c > 0; --c)
    scope.spawn<explore<most>>(found.of(c), uts::child_of(node, c));
  found.of(0) = explore<most>(uts::child_of(node, 0));
  scope.wait();
  return 1 + found.sum();
}

// ---- the same in parts: subtrees, some at a time, and a checkpoint of the nodes that were found

constexpr std::size_t parts_at_least = 1000;  // of a tree that has as many nodes of one depth
constexpr std::size_t parts_at_a_time = 100;
constexpr char const* count_name = "nodes";

struct Parts {
  std::uint64_t above = 0;  // nodes that are in none of them
  std::vector<uts::Node> roots;
};

// All nodes of the first depth that has enough of them, or of the last one that has any.
Parts parts_of(uts::Tree const& tree) {
  Parts parts{0, {uts::root_of(tree)}};
  while (parts.roots.size() < parts_at_least) {
    std::vector<uts::Node> below;
    for (auto const& node : parts.roots)
      for (int c = 0; c < uts::children_of(tree, node); ++c)
        below.push_back(uts::child_of(node, c));
    if (below.empty()) break;
    parts.above += parts.roots.size();
    parts.roots = std::move(below);
  }
  done.fetch_add(parts.above, std::memory_order_relaxed);
  return parts;
}

// Steps are parts, counted through all solutions, so that one does not begin with the count of
// another. While the ranks are at some parts, the count of those before them is kept.
template <int most>
std::uint64_t explore_parts(std::uint64_t const solution) {
  auto const parts = parts_of(problem.tree->tree);
  auto const begin = static_cast<std::int64_t>(solution * (parts.roots.size() + 1));
  std::size_t next = 0;
  std::uint64_t sum = parts.above;
  if (auto const last = nigh::cluster::last_checkpoint<std::uint64_t>(count_name);
      last && last->step > begin) {
    next = static_cast<std::size_t>(last->step - begin);
    sum = last->value;
  }
  while (next < parts.roots.size()) {
    auto const count = std::min(parts_at_a_time, parts.roots.size() - next);
    std::vector<std::uint64_t> found(count);
    nigh::cluster::task_scope scope;
    for (std::size_t p = count; p-- > 0;)
      scope.spawn<explore<most>>(found[p], parts.roots[next + p]);
    if (next > 0)
      nigh::cluster::checkpoint(count_name, begin + static_cast<std::int64_t>(next), sum);
    scope.wait();
    for (auto const n : found) sum += n;
    next += count;
  }
  return sum;
}

// ---- a tree, either way

template <int most>
std::uint64_t search_tree(std::uint64_t solution) {
  return problem.is_in_parts ? nigh::cluster::run<explore_parts<most>>(solution)
                             : nigh::cluster::run<explore<most>>(uts::root_of(problem.tree->tree));
}

bool search(std::uint64_t solution) {
  auto const found = problem.tree->tree.kind == uts::Kind::binomial
                         ? search_tree<uts::most_binomial_children>(solution)
                         : search_tree<uts::most_children>(solution);
  return found == problem.tree->nodes;
}

// ---- a grid: a task for each block of a round, and a checkpoint of all of it every few rounds

using stencils::Rows;

constexpr long rounds_between_checkpoints = 5;
constexpr char const* grid_name = "grid";

Rows sweep_block(long block, Rows rows) {
  auto next = rows;
  for (long s = 0; s < problem.grid.sweeps; ++s) {
    stencils::sweep(rows, next, problem.grid.side);
    done.fetch_add(static_cast<std::uint64_t>(problem.grid.count(block) * problem.grid.side),
                   std::memory_order_relaxed);
  }
  return rows;
}

void sweep_all(Rows& grid) {
  auto const& blocks = problem.grid;
  std::vector<Rows> swept(static_cast<std::size_t>(blocks.blocks));
  nigh::cluster::task_scope scope;
  for (long b = 0; b < blocks.blocks; ++b)
    scope.spawn<sweep_block>(swept[static_cast<std::size_t>(b)], b, blocks.take(grid, b));
  scope.wait();
  for (long b = 0; b < blocks.blocks; ++b)
    blocks.put_back(swept[static_cast<std::size_t>(b)], b, grid);
}

// Steps are counted through all solutions, so that one does not begin with the grid of another.
std::uint64_t sweep_grid(long solution) {
  long const begin = solution * problem.rounds, end = begin + problem.rounds;
  long step = begin;
  Rows grid;
  if (auto last = nigh::cluster::last_checkpoint<Rows>(grid_name); last && last->step > begin) {
    step = last->step;
    grid = std::move(last->value);
  } else {
    grid = stencils::first_grid(problem.grid.side);
  }
  while (step < end) {
    sweep_all(grid);
    if (++step % rounds_between_checkpoints == 0 && step < end)
      nigh::cluster::checkpoint(grid_name, step, grid);
  }
  return stencils::hash_of(grid);
}

std::uint64_t plain_hash(long sweeps) { return stencils::hash_after(sweeps, problem.grid.side); }

// ---- what all ranks do

int goes_on(int yes) { return yes; }

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// One write() a line at the end of the file, so that the lines of all processes stay whole.
class Events {
 public:
  explicit Events(std::string const& file)
      : file_(open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ < 0) refuse("--events", file, "cannot be written");
  }
  ~Events() { close(file_); }
  Events(Events&&) = delete;

  void is(int rank) { rank_ = rank; }
  void tell(std::string const& what) const {
    auto const line = fmt::format("{:.6f} {} {}\n", now(), rank_, what);
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      fmt::print(stderr, "cluster-losses: an event is lost: {}", line);
  }

 private:
  int file_, rank_ = 0;
};

struct Flags {
  std::string problem = "uts:T1", events, kills;
  double seconds = 1;
  bool plain = false;

  void declare(CLI::App& app) {
    app.add_option("--problem", problem,
                   "uts:TREE, uts-parts:TREE or jacobi:SIDExROUNDS; default uts:T1")
        ->type_name("NAME:SIZE");
    app.add_option("--seconds", seconds, "nothing more is begun after so long; default 1");
    app.add_option("--kills", kills, "RANK@SECONDS,...: who kills itself, and when since its begin")
        ->type_name("LIST");
    app.add_option("--events", events, "append what happens to this file")->required();
    app.add_flag("--plain", plain, "tasks are not supervised");
  }
};

// The time at which this rank kills itself; negative: never.
double death_of(std::string const& kills, int rank) {
  if (kills.empty()) return -1;
  double death = -1;
  for (auto const& word : words_of("--kills", kills)) {
    int who = -1;
    double when = -1;
    char more = 0;
    if (std::sscanf(word.c_str(), "%d@%lf%c", &who, &when, &more) != 2 || who < 0 || when < 0)
      refuse("--kills", word, "is not RANK@SECONDS");
    if (who == rank) death = when;
  }
  return death;
}

// Looks each millisecond for what is new, in a thread of its own; more than eight ranks look less
// often, since they share a machine's cpus.
class Observer {
 public:
  Observer(nigh::cluster::session& here, Events const& events, double death)
      : thread_([this, &here, &events, death] { watch(here, events, death); }) {}
  ~Observer() {
    ends_ = true;
    thread_.join();
  }
  Observer(Observer&&) = delete;

 private:
  void watch(nigh::cluster::session& here, Events const& events, double death) {
    auto const begin = now();
    std::uint64_t told = 0, lost = 0, again = 0;
    auto const tell_work = [&] {
      auto const sum = done.load(std::memory_order_relaxed);
      if (sum != std::exchange(told, sum)) events.tell(fmt::format("done {}", sum));
    };
    std::chrono::microseconds const pause(1000 * std::max(8, here.ranks()) / 8);
    for (double next = begin; !ends_; std::this_thread::sleep_for(pause)) {
      auto const counts = here.counters();
      if (counts.ranks_lost != std::exchange(lost, counts.ranks_lost))
        events.tell(fmt::format("lost {}", lost));
      if (counts.begun_again != std::exchange(again, counts.begun_again))
        events.tell(fmt::format("again {}", again));
      auto const time = now();
      if (time >= next) {
        tell_work();
        next = time + 0.02;
      }
      if (death < 0 || time < begin + death) continue;
      tell_work();
      events.tell("killed");
      kill(getpid(), SIGKILL);
    }
    tell_work();
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// Ranks that are left may use the cpus of those that are lost, as the system shares them out: with
// more ranks than cpus, two on one cpu would otherwise leave another idle.
void unbind_threads(cpu_set_t const& cpus) {
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task"))
    sched_setaffinity(std::stoi(thread.path().filename()), sizeof cpus, &cpus);
}

void run(Flags const& f, int& argc, char**& argv) {
  auto const found = find_loss_problem(f.problem);
  if (!found)
    refuse("--problem", f.problem, "is none of uts:TREE, uts-parts:TREE, jacobi:SIDExROUNDS");
  if (!(f.seconds >= 0 && f.seconds <= 86400))
    refuse("--seconds", std::to_string(f.seconds), "is not from 0 to 86400");
  death_of(f.kills, -1);
  Events events(f.events);
  problem = *found;
  nigh::cluster::session_options options;
  options.workers.workers = 1;
  options.supervised = !f.plain;
  cpu_set_t cpus;
  bool const are_known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  int solved = 0, wrong = 0;
  {
    nigh::cluster::session here(argc, argv, options);
    events.is(here.rank());
    if (are_known) unbind_threads(cpus);
    std::uint64_t expected = 0;  // of a grid; all are here when it is known
    if (problem.tree == nullptr)
      expected = nigh::cluster::run<plain_hash>(problem.grid.sweeps * problem.rounds);
    else
      nigh::cluster::run<goes_on>(1);
    auto const solves = [&] {
      return problem.tree != nullptr ? search(static_cast<std::uint64_t>(solved))
                                     : nigh::cluster::run<sweep_grid>(long{solved}) == expected;
    };
    events.tell("begins");
    auto const end = now() + f.seconds;
    {
      Observer const observer(here, events, death_of(f.kills, here.rank()));
      // The root says whether to go on, so that all ranks search as often.
      while (nigh::cluster::run<goes_on>(now() < end ? 1 : 0) != 0) {
        if (!solves()) ++wrong;
        events.tell(fmt::format("solved {}", ++solved));
      }
    }
    events.tell(fmt::format("ends {} {} {}", solved, wrong, here.counters().tasks_run_again));
  }
  if (wrong > 0) throw std::runtime_error(fmt::format("{} of {} answers are wrong", wrong, solved));
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  return run_program(
      "cluster-losses", "A problem solved by supervised tasks while ranks are killed", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags, argc, argv); });
}
