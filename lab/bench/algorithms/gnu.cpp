// SPDX-License-Identifier: Apache-2.0
// libstdc++'s parallel mode, which is written in OpenMP.
#include "bench/algorithms/calls.hpp"

#if defined(NIGH_WITH_OPENMP) && defined(__GLIBCXX__) && !defined(__clang__)
#include <omp.h>

#include <functional>
#include <parallel/algorithm>
#include <parallel/numeric>
#include <type_traits>

#include "bench/pin.hpp"

namespace bench::algorithms {

namespace {

template <class T>
Calls<T> gnu_calls() {
  Calls<T> calls;
  auto const add = [&calls](char const* name, Call<T> call) {
    calls.push_back({name, std::move(call)});
  };
  add("sort", [](Arrays<T> const& a) {
    __gnu_parallel::sort(a.data, a.end());
    return std::int64_t{0};
  });
  add("stable_sort", [](Arrays<T> const& a) {
    __gnu_parallel::stable_sort(a.data, a.end());
    return std::int64_t{0};
  });
  add("merge", [](Arrays<T> const& a) {
    auto* const half = a.data + a.n / 2;
    return std::int64_t{__gnu_parallel::merge(a.data, half, half, a.end(), a.out) - a.out};
  });
  add("partition", [](Arrays<T> const& a) {
    return std::int64_t{__gnu_parallel::partition(a.data, a.end(), IsOdd()) - a.data};
  });
  add("find_if", [](Arrays<T> const& a) {
    return std::int64_t{__gnu_parallel::find_if(a.data, a.end(), IsSought()) - a.data};
  });
  add("count_if", [](Arrays<T> const& a) {
    return std::int64_t{__gnu_parallel::count_if(a.data, a.end(), IsOdd())};
  });
  add("min_element", [](Arrays<T> const& a) {
    return std::int64_t{__gnu_parallel::min_element(a.data, a.end()) - a.data};
  });
  add("for_each", [](Arrays<T> const& a) {
    __gnu_parallel::for_each(a.data, a.end(), Step());
    return std::int64_t{0};
  });
  add("transform", [](Arrays<T> const& a) {
    __gnu_parallel::transform(a.data, a.end(), a.out, Next());
    return std::int64_t{0};
  });
  add("generate", [](Arrays<T> const& a) {
    __gnu_parallel::generate(a.data, a.end(), Seven<T>());
    return std::int64_t{0};
  });
  if constexpr (std::is_arithmetic_v<T>) {
    add("reduce", [](Arrays<T> const& a) {
      return key_of(__gnu_parallel::accumulate(a.data, a.end(), T{0}));
    });
    add("inclusive_scan", [](Arrays<T> const& a) {
      return std::int64_t{__gnu_parallel::partial_sum(a.data, a.end(), a.out) - a.out};
    });
  }
  return calls;
}

}  // namespace

Library gnu_library(std::vector<int> const& cpus) {
  auto const run = [cpus](std::function<void()> const& body) {
    int const threads = static_cast<int>(cpus.size());
    omp_set_num_threads(threads);
#pragma omp parallel num_threads(threads)
    pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);
    body();
  };
  return {"gnu_parallel",     "", run, gnu_calls<double>(), gnu_calls<std::int32_t>(),
          gnu_calls<Record>()};
}

}  // namespace bench::algorithms
#else
namespace bench::algorithms {

Library gnu_library(std::vector<int> const&) {
  return {.name = "gnu_parallel", .absent = "it needs g++'s OpenMP and library when this is built"};
}

}  // namespace bench::algorithms
#endif
