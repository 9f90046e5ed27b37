// SPDX-License-Identifier: Apache-2.0
#pragma once
// The standard's algorithms, with an execution policy or none. Included by sources that choose
// different back ends for the policies, hence the iterators of a type of their own: no function
// made from it is shared by two sources.

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "bench/algorithms/calls.hpp"

namespace bench::algorithms {

namespace {

struct ThisSource {};

template <class T, class... Policy>
Calls<T> standard_calls(Policy... how) {
  using Iterator = __gnu_cxx::__normal_iterator<T*, ThisSource>;
  auto const first = [](Arrays<T> const& a) { return Iterator(a.data); };
  auto const last = [](Arrays<T> const& a) { return Iterator(a.data + a.n); };
  auto const out = [](Arrays<T> const& a) { return Iterator(a.out); };
  auto const at = [](auto found, Arrays<T> const& a) { return found - Iterator(a.data); };
  Calls<T> calls;
  auto const add = [&calls](char const* name, Call<T> call) {
    calls.push_back({name, std::move(call)});
  };
  add("sort", [=](Arrays<T> const& a) {
    std::sort(how..., first(a), last(a));
    return std::int64_t{0};
  });
  add("stable_sort", [=](Arrays<T> const& a) {
    std::stable_sort(how..., first(a), last(a));
    return std::int64_t{0};
  });
  add("merge", [=](Arrays<T> const& a) {
    auto const half = first(a) + static_cast<std::ptrdiff_t>(a.n / 2);
    return std::merge(how..., first(a), half, half, last(a), out(a)) - out(a);
  });
  add("partition", [=](Arrays<T> const& a) {
    return at(std::partition(how..., first(a), last(a), IsOdd()), a);
  });
  add("stable_partition", [=](Arrays<T> const& a) {
    return at(std::stable_partition(how..., first(a), last(a), IsOdd()), a);
  });
  add("copy_if", [=](Arrays<T> const& a) {
    return std::copy_if(how..., first(a), last(a), out(a), IsOdd()) - out(a);
  });
  add("unique", [=](Arrays<T> const& a) { return at(std::unique(how..., first(a), last(a)), a); });
  add("find_if", [=](Arrays<T> const& a) {
    return at(std::find_if(how..., first(a), last(a), IsSought()), a);
  });
  add("any_of", [=](Arrays<T> const& a) {
    return std::int64_t{std::any_of(how..., first(a), last(a), IsSought())};
  });
  add("count_if", [=](Arrays<T> const& a) {
    return std::int64_t{std::count_if(how..., first(a), last(a), IsOdd())};
  });
  add("min_element",
      [=](Arrays<T> const& a) { return at(std::min_element(how..., first(a), last(a)), a); });
  add("minmax_element", [=](Arrays<T> const& a) {
    auto const [least, greatest] = std::minmax_element(how..., first(a), last(a));
    return found_both(*least, *greatest);
  });
  add("for_each", [=](Arrays<T> const& a) {
    std::for_each(how..., first(a), last(a), Step());
    return std::int64_t{0};
  });
  add("transform", [=](Arrays<T> const& a) {
    std::transform(how..., first(a), last(a), out(a), Next());
    return std::int64_t{0};
  });
  add("fill", [=](Arrays<T> const& a) {
    std::fill(how..., first(a), last(a), with_key<T>(7));
    return std::int64_t{0};
  });
  add("generate", [=](Arrays<T> const& a) {
    std::generate(how..., first(a), last(a), Seven<T>());
    return std::int64_t{0};
  });
  if constexpr (std::is_arithmetic_v<T>) {
    add("reduce", [=](Arrays<T> const& a) {
      return key_of(std::reduce(how..., first(a), last(a), T{0}, std::plus<>()));
    });
    add("transform_reduce", [=](Arrays<T> const& a) {
      return key_of(
          std::transform_reduce(how..., first(a), last(a), T{0}, std::plus<>(), Square()));
    });
    add("inclusive_scan", [=](Arrays<T> const& a) {
      return std::inclusive_scan(how..., first(a), last(a), out(a), std::plus<>(), T{0}) - out(a);
    });
    add("exclusive_scan", [=](Arrays<T> const& a) {
      return std::exclusive_scan(how..., first(a), last(a), out(a), T{0}, std::plus<>()) - out(a);
    });
  }
  return calls;
}

}  // namespace

}  // namespace bench::algorithms
