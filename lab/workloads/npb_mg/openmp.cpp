// SPDX-License-Identifier: Apache-2.0
// OpenMP as the reference codes use it: one parallel region around all that is timed, and in it
// orphaned worksharing loops with their barriers.
#include <omp.h>

#include "npb_mg/plain_cycle.hpp"

namespace npb_mg {

namespace {

enum class Schedule { fixed, dynamic, runtime };

// Called by every thread of a team.
template <Schedule schedule>
struct Worksharing {
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    if constexpr (schedule == Schedule::fixed) {
#pragma omp for schedule(static)
      for (std::ptrdiff_t k = first; k < last; ++k) body(k);
    } else if constexpr (schedule == Schedule::dynamic) {
#pragma omp for schedule(dynamic)
      for (std::ptrdiff_t k = first; k < last; ++k) body(k);
    } else {
#pragma omp for schedule(runtime)
      for (std::ptrdiff_t k = first; k < last; ++k) body(k);
    }
  }
};

template <Schedule schedule>
class OpenMp : public Variant {
 public:
  // Not by a clause, which would be an order: whoever shares the host out may give fewer.
  // Both runtimes keep their threads, and the numbers of them, from region to region as long as the
  // number of threads does not change. So it is enough to pin them once.
  explicit OpenMp(Team const& team) : kernel_(*team.kernel), threads_(team.threads()) {
    omp_set_num_threads(threads_);
#pragma omp parallel
    team.pin_thread(omp_get_thread_num());
  }

  void clear(Fields& fields) override {
    omp_set_num_threads(threads_);
#pragma omp parallel
    {
      Worksharing<schedule> loops;
      PlainCycle<Worksharing<schedule>>::clear(loops, fields);
    }
  }

  Outcome solve(Fields& fields, Weights const& smoother, int iterations) override {
    PlaneSums sums(fields.finest().n);
    Outcome outcome;
    omp_set_num_threads(threads_);
#pragma omp parallel
    {
      Worksharing<schedule> loops;
      Outcome const own = PlainCycle(loops, fields, kernel_, smoother, sums).solve(iterations);
#pragma omp master
      outcome = own;
    }
    return outcome;
  }

 private:
  Kernel const& kernel_;
  int threads_;
};

template <Schedule schedule>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<OpenMp<schedule>>(team);
}

std::string named(char const* schedule) {
#if defined(__clang__)
  return std::string("openmp-clang/") + schedule;
#else
  return std::string("openmp-gcc/") + schedule;
#endif
}

}  // namespace

void add_openmp(std::vector<VariantInfo>& list) {
  list.push_back({named("static"), make<Schedule::fixed>, {}});
  list.push_back({named("dynamic"), make<Schedule::dynamic>, {}});
  list.push_back({named("runtime"), make<Schedule::runtime>, {}});
}

}  // namespace npb_mg
