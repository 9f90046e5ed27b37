// SPDX-License-Identifier: Apache-2.0
// oneTBB's own algorithms; what it has no word for is left out.
#include "bench/algorithms/calls.hpp"

#if defined(NIGH_WITH_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/combinable.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/pin.hpp"
#include "workloads/team.hpp"

namespace bench::algorithms {

namespace {

using Range = oneapi::tbb::blocked_range<std::size_t>;

template <class T>
Calls<T> tbb_calls() {
  using namespace oneapi;
  Calls<T> calls;
  auto const add = [&calls](char const* name, Call<T> call) {
    calls.push_back({name, std::move(call)});
  };
  auto const over = [](Arrays<T> const& a, auto const& body) {
    tbb::parallel_for(Range(0, a.n), [&](Range const& r) { body(r.begin(), r.end()); });
    return std::int64_t{0};
  };
  auto const sum = [](Arrays<T> const& a, auto const& value, auto zero) {
    return tbb::parallel_reduce(
        Range(0, a.n), zero,
        [&](Range const& r, auto so_far) {
          for (auto i = r.begin(); i != r.end(); ++i) so_far += value(a.data[i]);
          return so_far;
        },
        std::plus<>());
  };
  add("sort", [](Arrays<T> const& a) {
    tbb::parallel_sort(a.data, a.end());
    return std::int64_t{0};
  });
  add("count_if", [=](Arrays<T> const& a) { return sum(a, IsOdd(), std::int64_t{0}); });
  add("min_element", [](Arrays<T> const& a) {
    auto const least = [&a](std::size_t x, std::size_t y) {  // the first of equal ones
      return a.data[y] < a.data[x] || (!(a.data[x] < a.data[y]) && y < x) ? y : x;
    };
    return static_cast<std::int64_t>(tbb::parallel_reduce(
        Range(0, a.n), std::size_t{0},
        [&](Range const& r, std::size_t so_far) {
          for (auto i = r.begin(); i != r.end(); ++i) so_far = least(so_far, i);
          return so_far;
        },
        least));
  });
  add("minmax_element", [](Arrays<T> const& a) {
    using Both = std::pair<std::size_t, std::size_t>;
    auto const both = [&a](Both const& x, Both const& y) {
      return Both(a.data[y.first] < a.data[x.first] ? y.first : x.first,
                  a.data[x.second] < a.data[y.second] ? y.second : x.second);
    };
    auto const [least, greatest] = tbb::parallel_reduce(
        Range(0, a.n), Both(0, 0),
        [&](Range const& r, Both so_far) {
          for (auto i = r.begin(); i != r.end(); ++i) so_far = both(so_far, {i, i});
          return so_far;
        },
        both);
    return found_both(a.data[least], a.data[greatest]);
  });
  add("histogram", [](Arrays<T> const& a) {
    using Counts = std::array<std::int64_t, bins>;
    tbb::combinable<Counts> parts([] { return Counts{}; });
    tbb::parallel_for(Range(0, a.n), [&](Range const& r) {
      Counts& mine = parts.local();
      for (auto i = r.begin(); i != r.end(); ++i) ++mine[Bin()(a.data[i])];
    });
    Counts all{};
    parts.combine_each([&all](Counts const& part) {
      for (std::size_t bin = 0; bin < bins; ++bin) all[bin] += part[bin];
    });
    return found_counts(all);
  });
  add("sort_by_key", [](Arrays<T> const& a) {
    std::vector<std::pair<T, T>> pairs(a.n);
    tbb::parallel_for(Range(0, a.n), [&](Range const& r) {
      for (auto i = r.begin(); i != r.end(); ++i) pairs[i] = {a.data[i], a.out[i]};
    });
    tbb::parallel_sort(pairs.begin(), pairs.end(),
                       [](auto const& x, auto const& y) { return x.first < y.first; });
    tbb::parallel_for(Range(0, a.n), [&](Range const& r) {
      for (auto i = r.begin(); i != r.end(); ++i) std::tie(a.data[i], a.out[i]) = pairs[i];
    });
    return std::int64_t{0};
  });
  add("for_each", [=](Arrays<T> const& a) {
    return over(a, [&](std::size_t from, std::size_t to) {
      std::for_each(a.data + from, a.data + to, Step());
    });
  });
  add("transform", [=](Arrays<T> const& a) {
    return over(a, [&](std::size_t from, std::size_t to) {
      std::transform(a.data + from, a.data + to, a.out + from, Next());
    });
  });
  add("fill", [=](Arrays<T> const& a) {
    return over(a, [&](std::size_t from, std::size_t to) {
      std::fill(a.data + from, a.data + to, with_key<T>(7));
    });
  });
  add("generate", [=](Arrays<T> const& a) {
    return over(a, [&](std::size_t from, std::size_t to) {
      std::generate(a.data + from, a.data + to, Seven<T>());
    });
  });
  if constexpr (std::is_arithmetic_v<T>) {
    add("reduce", [=](Arrays<T> const& a) { return key_of(sum(a, std::identity(), T{0})); });
    add("transform_reduce", [=](Arrays<T> const& a) { return key_of(sum(a, Square(), T{0})); });
    auto const scan = [](Arrays<T> const& a, bool with_own) {
      tbb::parallel_scan(
          Range(0, a.n), T{0},
          [&](Range const& r, T before, bool is_final) {
            for (auto i = r.begin(); i != r.end(); ++i) {
              T const after = before + a.data[i];
              if (is_final) a.out[i] = with_own ? after : before;
              before = after;
            }
            return before;
          },
          std::plus<>());
      return static_cast<std::int64_t>(a.n);
    };
    add("inclusive_scan", [=](Arrays<T> const& a) { return scan(a, true); });
    add("exclusive_scan", [=](Arrays<T> const& a) { return scan(a, false); });
  }
  return calls;
}

}  // namespace

Library tbb_library(std::vector<int> const& cpus) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  std::shared_ptr<workloads::Team> const team = workloads::make_tbb_team(options);
  return {"tbb",
          "",
          [team](std::function<void()> const& body) { team->run(body); },
          tbb_calls<double>(),
          tbb_calls<std::int32_t>(),
          tbb_calls<Record>()};
}

}  // namespace bench::algorithms
#else
namespace bench::algorithms {

Library tbb_library(std::vector<int> const&) {
  return {.name = "tbb", .absent = "it was not found when this was built"};
}

}  // namespace bench::algorithms
#endif
