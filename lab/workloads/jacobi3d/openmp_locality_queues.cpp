// SPDX-License-Identifier: Apache-2.0
// OpenMP tasks that take their blocks from locality queues (the paper's "tasking + queues").
#include <nigh/openmp_locality_queues.hpp>

#include "jacobi3d/openmp.hpp"

namespace jacobi3d {

namespace {

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
