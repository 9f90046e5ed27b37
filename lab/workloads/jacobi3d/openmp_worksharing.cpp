// SPDX-License-Identifier: Apache-2.0
// The paper's worksharing loop: parallel over layers of blocks.
#include "jacobi3d/openmp.hpp"

namespace jacobi3d {

namespace {

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

}  // namespace jacobi3d
