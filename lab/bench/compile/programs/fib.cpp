// SPDX-License-Identifier: Apache-2.0
// Two calls that may run at once, as the users of each library write them. nigh bench compile
// defines one USE_.
#include <cstdio>

#if defined(USE_NIGH)
#include <nigh/fork_join.hpp>

template <class F, class G>
void both(F const& f, G const& g) {
  nigh::fork_join(f, g);
}
#elif defined(USE_TASKFLOW)
#include <taskflow/taskflow.hpp>

template <class F, class G>
void both(F const& f, G const& g) {
  static tf::Executor executor;
  tf::Taskflow flow;
  flow.emplace(f, g);
  if (executor.this_worker_id() >= 0)
    executor.corun(flow);
  else
    executor.run(flow).wait();
}
#elif defined(USE_TBB)
#include <oneapi/tbb/parallel_invoke.h>

template <class F, class G>
void both(F const& f, G const& g) {
  tbb::parallel_invoke(f, g);
}
#elif defined(USE_OPENMP)
template <class F, class G>
void both(F const& f, G const& g) {
#pragma omp task
  f();
  g();
#pragma omp taskwait
}
#elif defined(USE_THREADS)
#include <future>

template <class F, class G>
void both(F const& f, G const& g) {
  auto other = std::async(f);
  g();
  other.get();
}
#else  // one thread
template <class F, class G>
void both(F const& f, G const& g) {
  f();
  g();
}
#endif

static int fib(int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
  both([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

int main() {
  int answer = 0;
#if defined(USE_OPENMP)
#pragma omp parallel
#pragma omp single
#endif
  answer = fib(10);
  std::printf("%d\n", answer);
}
