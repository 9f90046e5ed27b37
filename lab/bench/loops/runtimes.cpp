// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <stdexcept>

#include "bench/loops/kernels.hpp"
#include "bench/pin.hpp"
#include "workloads/team.hpp"

#if defined(NIGH_WITH_OPENMP)
#include <omp.h>
#endif

#if defined(NIGH_WITH_TBB)
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#endif

namespace bench {

#if !defined(NIGH_PEER)

// From within a worker, as from an OpenMP program's first thread.
Loops nigh_loops(std::vector<int> const& cpus) {
  nigh::runtime_options options;
  options.cpus = cpus;
  auto const runtime = std::make_shared<nigh::runtime>(options);
  auto const run = [runtime](std::string const& schedule, std::size_t n, auto const& body) {
    nigh::loop_options how;
    how.how = nigh::parse_schedule(schedule).value();
    how.where = runtime.get();
    nigh::parallel_for(std::size_t{0}, n, body, how);
  };
  return {[run](std::size_t n, FillElement const& f) { run("static", n, f); }, run, run};
}

#endif

#if defined(NIGH_WITH_OPENMP)

namespace {

template <class Body>
void run(int threads, std::string const& schedule, std::size_t n, Body const& body) {
  if (schedule == "static") {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else if (schedule == "guided") {
#pragma omp parallel for num_threads(threads) schedule(guided)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else if (schedule == "dynamic") {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else {
    throw std::invalid_argument("no such schedule: " + schedule);
  }
}

}  // namespace

Loops openmp_loops(std::vector<int> const& cpus) {
  int const threads = static_cast<int>(cpus.size());
  auto const pinned = [cpus, threads](std::string const& schedule, std::size_t n,
                                      auto const& body) { run(threads, schedule, n, body); };
  auto const pin = [cpus, threads] {
#pragma omp parallel num_threads(threads)
    pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);
  };
  return {[pin, pinned](std::size_t n, FillElement const& f) {
            pin();
            pinned("static", n, f);
          },
          pinned, pinned};
}

#endif

#if defined(NIGH_WITH_TBB)

Loops tbb_loops(std::vector<int> const& cpus) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  std::shared_ptr<workloads::Team> const team = make_tbb_team(options);
  auto const run = [team](std::string const& schedule, std::size_t n, auto const& body) {
    auto const each = [&body](oneapi::tbb::blocked_range<std::size_t> const& r) {
      for (auto i = r.begin(); i != r.end(); ++i) body(i);
    };
    oneapi::tbb::blocked_range<std::size_t> const all(0, n);
    team->run([&] {
      if (schedule == "auto")
        oneapi::tbb::parallel_for(all, each, oneapi::tbb::auto_partitioner());
      else if (schedule == "static")
        oneapi::tbb::parallel_for(all, each, oneapi::tbb::static_partitioner());
      else
        throw std::invalid_argument("no such partitioner: " + schedule);
    });
  };
  return {[run](std::size_t n, FillElement const& f) { run("static", n, f); }, run, run};
}

#endif

}  // namespace bench
