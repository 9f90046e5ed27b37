// SPDX-License-Identifier: Apache-2.0
// The OpenMP variants: their family's name, and a team that stays on its cpus.

#include <omp.h>

#include <nigh/openmp_locality_queues.hpp>
#include <string>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

inline std::string openmp_name(char const* schedule) {
#if defined(__clang__)
  return std::string("openmp-clang/") + schedule;
#else
  return std::string("openmp-gcc/") + schedule;
#endif
}

// Both runtimes keep their threads, and the numbers of them, from region to region as long as the
// number of threads does not change. So it is enough to pin them once.
inline void pin_openmp_team(Team const& team) {
#pragma omp parallel num_threads(team.threads())
  team.pin_thread(omp_get_thread_num());
}

// The paper's worksharing loop: parallel over layers of blocks.

template <omp_sched_t schedule>
class Worksharing : public Variant {
 public:
  explicit Worksharing(Team const& team) : threads_(team.threads()) { pin_openmp_team(team); }

  void sweep(Sweep const& s) override {
    Blocks const& blocks = s.plan->blocks;
    Extent const along = blocks.along();
    omp_set_schedule(schedule, 0);
#pragma omp parallel for schedule(runtime) num_threads(threads_)
    for (std::ptrdiff_t kb = 0; kb < along.k; ++kb)
      for (std::ptrdiff_t jb = 0; jb < along.j; ++jb)
        for (std::ptrdiff_t ib = 0; ib < along.i; ++ib) s.run(blocks.number(ib, jb, kb));
  }

 private:
  int threads_;
};

template <omp_sched_t schedule>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<Worksharing<schedule>>(team);
}

}  // namespace

void add_openmp_worksharing(std::vector<VariantInfo>& list) {
  list.push_back({openmp_name("static"), false, make<omp_sched_static>, {}});
  list.push_back({openmp_name("dynamic"), false, make<omp_sched_dynamic>, {}});
  list.push_back({openmp_name("guided"), false, make<omp_sched_guided>, {}});
}

namespace {

// One OpenMP task a block, submitted by one thread (the paper's "tasking").

class Tasks : public Variant {
 public:
  explicit Tasks(Team const& team) : threads_(team.threads()) { pin_openmp_team(team); }

  void sweep(Sweep const& s) override {
    std::vector<int> const& submission = s.plan->submission;
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (int const block : submission) {
#pragma omp task firstprivate(block) shared(s)
      s.run(block);
    }
  }

 private:
  int threads_;
};

}  // namespace

void add_openmp_tasks(std::vector<VariantInfo>& list) {
  list.push_back(
      {openmp_name("tasks"),
       true,
       [](Team const& team) -> std::unique_ptr<Variant> { return std::make_unique<Tasks>(team); },
       {}});
}

namespace {

// OpenMP tasks that take their blocks from locality queues (the paper's "tasking + queues").

class LocalityQueues : public Variant {
 public:
  explicit LocalityQueues(Team const& team) : threads_(team.threads()), queues_(*team.machine) {
    pin_openmp_team(team);
  }

  void sweep(Sweep const& s) override {
    std::vector<int> const& submission = s.plan->submission;
    std::vector<int> const& home = s.plan->home;
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (int const block : submission) {
      queues_.enqueue(home[static_cast<std::size_t>(block)], block);
#pragma omp task shared(s)
      queues_.process_one([&s](int mine) { s.run(mine); });
    }
  }

 private:
  int threads_;
  nigh::openmp::locality_queues<int> queues_;
};

}  // namespace

void add_openmp_locality_queues(std::vector<VariantInfo>& list) {
  list.push_back({openmp_name("tasks+queues"),
                  true,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    return std::make_unique<LocalityQueues>(team);
                  },
                  {}});
}

}  // namespace jacobi3d
