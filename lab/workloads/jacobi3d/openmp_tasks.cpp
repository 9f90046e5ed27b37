// SPDX-License-Identifier: Apache-2.0
// One OpenMP task a block, submitted by one thread (the paper's "tasking").
#include "jacobi3d/openmp.hpp"

namespace jacobi3d {

namespace {

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

}  // namespace jacobi3d
