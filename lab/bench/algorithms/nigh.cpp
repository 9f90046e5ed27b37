// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <nigh/algorithm.hpp>
#include <nigh/runtime.hpp>
#include <span>
#include <type_traits>

#include "bench/algorithms/calls.hpp"

namespace bench::algorithms {

namespace {

template <class T>
Calls<T> nigh_calls() {
  Calls<T> calls;
  auto const add = [&calls](char const* name, Call<T> call) {
    calls.push_back({name, std::move(call)});
  };
  add("sort", [](Arrays<T> const& a) {
    nigh::parallel_sort(a.data, a.end());
    return std::int64_t{0};
  });
  add("stable_sort", [](Arrays<T> const& a) {
    nigh::parallel_stable_sort(a.data, a.end());
    return std::int64_t{0};
  });
  add("merge", [](Arrays<T> const& a) {
    auto* const half = a.data + a.n / 2;
    return std::int64_t{nigh::parallel_merge(a.data, half, half, a.end(), a.out) - a.out};
  });
  add("partition", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_partition(a.data, a.end(), IsOdd()) - a.data};
  });
  add("stable_partition", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_stable_partition(a.data, a.end(), IsOdd()) - a.data};
  });
  add("copy_if", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_copy_if(a.data, a.end(), a.out, IsOdd()) - a.out};
  });
  add("unique", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_unique(a.data, a.end()) - a.data};
  });
  add("find_if", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_find_if(a.data, a.end(), IsSought()) - a.data};
  });
  add("any_of", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_any_of(a.data, a.end(), IsSought())};
  });
  add("count_if", [](Arrays<T> const& a) {
    return static_cast<std::int64_t>(nigh::parallel_count_if(a.data, a.end(), IsOdd()));
  });
  add("min_element", [](Arrays<T> const& a) {
    return std::int64_t{nigh::parallel_min_element(a.data, a.end()) - a.data};
  });
  add("minmax_element", [](Arrays<T> const& a) {
    auto const [least, greatest] = nigh::parallel_minmax_element(a.data, a.end());
    return found_both(*least, *greatest);
  });
  add("histogram", [](Arrays<T> const& a) {
    return found_counts(nigh::parallel_histogram(a.data, a.end(), bins, Bin()));
  });
  add("sort_by_key", [](Arrays<T> const& a) {
    nigh::parallel_sort_by_key(std::span(a.data, a.n), std::span(a.out, a.n));
    return std::int64_t{0};
  });
  add("for_each", [](Arrays<T> const& a) {
    nigh::parallel_for_each(a.data, a.end(), Step());
    return std::int64_t{0};
  });
  add("transform", [](Arrays<T> const& a) {
    nigh::parallel_transform(a.data, a.end(), a.out, Next());
    return std::int64_t{0};
  });
  add("fill", [](Arrays<T> const& a) {
    nigh::parallel_fill(a.data, a.end(), with_key<T>(7));
    return std::int64_t{0};
  });
  add("generate", [](Arrays<T> const& a) {
    nigh::parallel_generate(a.data, a.end(), Seven<T>());
    return std::int64_t{0};
  });
  if constexpr (std::is_arithmetic_v<T>) {
    add("reduce", [](Arrays<T> const& a) {
      return key_of(nigh::parallel_reduce(a.data, a.end(), T{0}, std::plus<>()));
    });
    add("transform_reduce", [](Arrays<T> const& a) {
      return key_of(
          nigh::parallel_transform_reduce(a.data, a.end(), T{0}, std::plus<>(), Square()));
    });
    add("inclusive_scan", [](Arrays<T> const& a) {
      nigh::parallel_inclusive_scan(a.data, a.end(), a.out, T{0});
      return static_cast<std::int64_t>(a.n);
    });
    add("exclusive_scan", [](Arrays<T> const& a) {
      nigh::parallel_exclusive_scan(a.data, a.end(), a.out, T{0});
      return static_cast<std::int64_t>(a.n);
    });
  }
  return calls;
}

}  // namespace

Library nigh_library(std::vector<int> const& cpus) {
  nigh::runtime_options options;
  options.cpus = cpus;
  auto const runtime = std::make_shared<nigh::runtime>(options);
  return {"nigh",
          "",
          [runtime](std::function<void()> const& body) { runtime->run(body); },
          nigh_calls<double>(),
          nigh_calls<std::int32_t>(),
          nigh_calls<Record>()};
}

}  // namespace bench::algorithms
