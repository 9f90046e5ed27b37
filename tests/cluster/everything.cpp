// SPDX-License-Identifier: Apache-2.0
// Each promise of cluster.hpp, on as many ranks as there are. The program calls MPI itself, too.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <nigh/cluster_for.hpp>
#include <numeric>
#include <string>

#include "fib.hpp"

namespace cluster = nigh::cluster;

namespace {

int failures = 0, this_rank = 0;

void check(bool holds, char const* what) {
  if (holds) return;
  ++failures;
  std::printf("rank %d: not so: %s\n", this_rank, what);
}

long sum(std::span<long const> of) { return std::accumulate(of.begin(), of.end(), 0L); }

std::vector<long> doubled(std::vector<long> of) {
  for (auto& i : of) i *= 2;
  return of;
}

// Far more than fits a receive buffer, there and back.
long large(int ranks) {
  std::vector<long> numbers(300'000);
  std::iota(numbers.begin(), numbers.end(), 0L);
  std::vector<std::vector<long>> back(static_cast<std::size_t>(ranks));
  std::vector<long> sums(back.size());
  cluster::task_scope scope;
  for (std::size_t r = 0; r < back.size(); ++r) {
    scope.spawn<doubled>(cluster::near(static_cast<int>(r)), back[r], numbers);
    scope.spawn<sum>(cluster::near(static_cast<int>(r)), sums[r], numbers);
  }
  scope.wait();
  long total = 0;
  for (std::size_t r = 0; r < back.size(); ++r) total += sum(back[r]) - 2 * sums[r] + 1;
  return total;
}

// More than MPI is given at once.
bool in_pieces(int ranks) {
  std::vector<long> numbers(5'000'001), back;
  std::iota(numbers.begin(), numbers.end(), 0L);
  cluster::task_scope scope;
  scope.spawn<doubled>(cluster::near(ranks - 1), back, numbers);
  scope.wait();
  return back == doubled(numbers);
}

int rank_here() { return this_rank; }

// More than may be on their way at once.
int placed(int ranks) {
  std::vector<int> where(2000, -1);
  cluster::task_scope scope;
  for (std::size_t i = 0; i < where.size(); ++i)
    scope.spawn<rank_here>(cluster::near(static_cast<int>(i) % ranks), where[i]);
  scope.wait();
  int ran = 0;
  for (int const w : where) ran += w >= 0 && w < ranks;
  return ran;
}

int refuses(int n) {
  if (n == 0) throw std::runtime_error("as it should");
  return n;
}

int throws_elsewhere(int ranks) {
  int caught = 0;
  for (int r = 0; r < ranks; ++r) {
    int out = 0;
    try {
      cluster::task_scope scope;
      scope.spawn<refuses>(cluster::near(r), out, 0);
      scope.wait();
    } catch (std::runtime_error const& e) {
      caught += std::string(e.what()).find("as it should") != std::string::npos;
    }
  }
  return caught;
}

std::atomic<long> visits{0};

void free_tree(int depth) {
  ++visits;
  for (int i = 0; depth > 0 && i < 3; ++i) cluster::spawn_free<free_tree>(depth - 1);
}

void visit(nigh::index_range r) { visits += static_cast<long>(r.size()); }

void visit_all(int ranks) {
  cluster::parallel_for<visit>({0, 10'000, 64});
  cluster::parallel_for<visit>({0, 10'000, 64},
                               [ranks](std::size_t b) { return static_cast<int>(b) % ranks; });
}

long sum_of_all_ranks(long mine) {
  long all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

long visits_of_all_ranks() { return sum_of_all_ranks(visits.exchange(0)); }

bool shares_a_host_somewhere() {
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  return sum_of_all_ranks(ranks > 1) > 0;
}

long window_tasks_of_all_ranks(cluster::session const& here) {
  return sum_of_all_ranks(static_cast<long>(here.counters().window_tasks));
}

// Tasks are counted where they come from and where they go; some go through the window, if there
// is one. Ranks of a busy machine may need a few runs to be awake at the same time.
void check_counters(cluster::session const& here, bool has_window) {
  bool const may_use_it = shares_a_host_somewhere() && has_window;
  for (int runs = 0; may_use_it && runs < 200 && window_tasks_of_all_ranks(here) == 0; ++runs)
    cluster::run<fib>(25);
  check((window_tasks_of_all_ranks(here) > 0) == may_use_it, "ranks of a host use the window");
  auto const c = here.counters();
  check(sum_of_all_ranks(static_cast<long>(c.tasks_stolen)) ==
            sum_of_all_ranks(static_cast<long>(c.tasks_given)),
        "as many tasks came as went");
}

}  // namespace

int main(int argc, char** argv) {
  {
    cluster::session_options options;
    options.queue_capacity = 16;
    options.shared_window = argc < 3 || std::string(argv[2]) != "messages";
    int const level = argc > 1 ? std::atoi(argv[1]) : MPI_THREAD_SERIALIZED;
    int given = 0;
    MPI_Init_thread(&argc, &argv, level, &given);
    check(given == level, "MPI's threads may do what was asked for");
    cluster::session here(argc, argv, options);
    this_rank = here.rank();
    int const ranks = here.ranks();
    for (int round = 0; round < 3; ++round) {
      check(cluster::run<fib>(20) == 6765, "fib(20)");
      check(cluster::run<large>(ranks) == ranks, "large messages come whole");
      check(cluster::run<placed>(ranks) == 2000, "placed tasks run on some rank");
      check(cluster::run<throws_elsewhere>(ranks) == ranks, "exceptions come home");
      cluster::run<free_tree>(7);
      check(visits_of_all_ranks() == 3280, "run() returns when all free tasks are done");
      cluster::run<visit_all>(ranks);
      check(visits_of_all_ranks() == 20'000, "each block is run once");
      try {
        cluster::run<refuses>(0);
        check(false, "what the root throws, run() throws");
      } catch (cluster::remote_error const& e) {
        check(std::string(e.what()) == "as it should", "with its words");
      }
    }
    check(cluster::run<in_pieces>(ranks), "messages in pieces come whole");
    check_counters(here, options.shared_window);
    auto const c = here.counters();
    std::printf(
        "rank %d of %d: %lu asked, %lu in vain, %lu came, %lu through the window, %lu went, %lu "
        "placed\n",
        this_rank, ranks, static_cast<unsigned long>(c.steals_asked),
        static_cast<unsigned long>(c.steals_failed), static_cast<unsigned long>(c.tasks_stolen),
        static_cast<unsigned long>(c.window_tasks), static_cast<unsigned long>(c.tasks_given),
        static_cast<unsigned long>(c.tasks_placed));
  }
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
