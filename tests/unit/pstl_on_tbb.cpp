// SPDX-License-Identifier: Apache-2.0
// The part of pstl_beside_tbb_test that knows nothing of nigh: libstdc++'s parallel algorithms on
// oneTBB, its own back end, and oneTBB itself.
#include "unit/pstl_on_tbb.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <execution>
#include <typeinfo>

namespace on_tbb {

char const* policy_name() { return typeid(std::execution::par).name(); }

void sort(std::vector<int>& v) { std::sort(std::execution::par, v.begin(), v.end()); }

bool runs_in_an_arena() {
  std::vector<int> v(1000);
  std::for_each(std::execution::par, v.begin(), v.end(), [](int& in_arena) {
    in_arena = tbb::this_task_arena::current_thread_index() >= 0;
  });
  return std::count(v.begin(), v.end(), 1) == 1000;
}

long sum(std::vector<int> const& v) {
  std::atomic<long> total{0};
  tbb::parallel_for(std::size_t{0}, v.size(), [&](std::size_t i) { total += v[i]; });
  return total;
}

}  // namespace on_tbb
