// SPDX-License-Identifier: Apache-2.0
// FastFlow: ParallelFor over planes, its threads asleep between loops, as the C++ port of the
// benchmarks builds it.
#define BLOCKING_MODE
#define NO_DEFAULT_MAPPING
#include <ff/ff.hpp>
#include <ff/parallel_for.hpp>

#include "npb_mg/plain_cycle.hpp"

namespace npb_mg {

namespace {

enum class Chunks { by_worker, one };  // equal blocks, or plane by plane to whoever asks

template <Chunks chunks>
class FastFlow {
 public:
  explicit FastFlow(Team const& team) : threads_(team.threads()), loops_(threads_) {
    // As many iterations as threads, so each gets one.
    loops_.parallel_for(
        0, threads_, 1, [&](long thread) { team.pin_thread(static_cast<int>(thread)); }, threads_);
  }

  template <class Body>
  void run(Body const& body) {
    body();
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    if constexpr (chunks == Chunks::one)
      loops_.parallel_for(first, last, 1, 1, body, threads_);
    else
      loops_.parallel_for(first, last, 1, body, threads_);
  }

 private:
  int threads_;
  ff::ParallelFor loops_;
};

}  // namespace

void add_fastflow(std::vector<VariantInfo>& list) {
  list.push_back({"fastflow/static", make_one_caller<FastFlow<Chunks::by_worker>>, {}});
  list.push_back({"fastflow/dynamic", make_one_caller<FastFlow<Chunks::one>>, {}});
}

}  // namespace npb_mg
