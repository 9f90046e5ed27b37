// SPDX-License-Identifier: Apache-2.0
// Features: algorithms on ranges, values of each thread, pipelines, isolated regions, and std::execution::par on nigh.
#include <nigh/pstl.hpp>

#include <algorithm>
#include <cstddef>
#include <execution>
#include <functional>
#include <mutex>
#include <nigh/algorithm.hpp>
#include <nigh/isolate.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_merge.hpp>
#include <nigh/parallel_partition.hpp>
#include <nigh/parallel_pipeline.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/per_worker.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "features.hpp"

namespace user {
namespace {

// Numbers in no order. Texts lie on the heap, so that a read without order is one of freed memory, too.
std::vector<unsigned> numbers(std::size_t n) {
  std::vector<unsigned> v(n);
  unsigned x = 1;
  for (auto& e : v) e = (x = x * 1664525U + 1013904223U) >> 8;
  return v;
}
std::vector<std::string> texts(std::size_t n) {
  std::vector<std::string> v(n);
  auto const all = numbers(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = "a text that lies on the heap " + std::to_string(all[i] % 1000);
  return v;
}
bool is_odd(unsigned x) { return x % 2 == 1; }

bool generate_and_histogram() {
  std::vector<unsigned> v(50'000);
  nigh::parallel_generate(v, [](std::size_t i) { return static_cast<unsigned>(i); });
  auto const bins = nigh::parallel_histogram(v, 4, [](unsigned x) { return static_cast<int>(x % 4); });
  return std::all_of(bins.begin(), bins.end(), [](auto count) { return count == 12'500; });
}

bool find_and_count() {
  auto v = numbers(50'000);
  v[40'000] = 0xffffffffU;
  auto const at = nigh::parallel_find_if(v, [](unsigned x) { return x == 0xffffffffU; }) - v.begin();
  bool const any = nigh::parallel_any_of(v, is_odd);
  auto const odd = static_cast<std::ptrdiff_t>(nigh::parallel_count_if(v, is_odd));
  return at == 40'000 && any && odd == std::count_if(v.begin(), v.end(), is_odd) &&
         *nigh::parallel_max_element(v) == 0xffffffffU;
}

bool filter() {
  auto const v = texts(9'000);
  auto const has_seven = [](std::string const& s) { return s.back() == '7'; };
  std::vector<std::string> out(v.size());
  out.erase(nigh::parallel_copy_if(v, out.begin(), has_seven), out.end());
  auto const places = nigh::parallel_filter(std::size_t{0}, v.size(), [&](std::size_t i) { return has_seven(v[i]); });
  return out.size() == places.size() && std::all_of(out.begin(), out.end(), has_seven);
}

bool unique() {
  auto v = texts(9'000);
  nigh::parallel_stable_sort(v.begin(), v.end());
  v.erase(nigh::parallel_unique(v), v.end());
  return v.size() == 1000 && std::is_sorted(v.begin(), v.end());
}

bool partition() {
  auto v = texts(9'000);
  auto const is_short = [](std::string const& s) { return s.size() < 32; };
  auto const middle = nigh::parallel_partition(v.begin(), v.end(), is_short);
  return std::is_partitioned(v.begin(), v.end(), is_short) && middle != v.begin() && middle != v.end();
}

bool merge() {
  auto a = texts(6'000), b = texts(5'000);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<std::string> out(a.size() + b.size());
  nigh::parallel_merge(a, b, out.begin());
  a.front() = "changed";
  return std::is_sorted(out.begin(), out.end());
}

bool sort_by_key() {
  auto keys = numbers(30'000);
  auto values = keys;
  nigh::parallel_sort_by_key(keys, values);
  return keys == values && std::is_sorted(keys.begin(), keys.end());
}

// The vectors are made where they are used, and read by the caller alone.
bool values_of_each_thread() {
  nigh::per_worker<std::vector<int>> parts;
  meeting some;
  nigh::parallel_for(0, 1000, [&](int i) {
    if (i == 0 || i == 500) {
      some.come();
      some.await(2, std::chrono::milliseconds(200));
    }
    parts.local().push_back(i);
  });
  auto all = parts.combine([](std::vector<int> a, std::vector<int> const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  });
  std::sort(all.begin(), all.end());
  return all.size() == 1000 && all.back() == 999;
}

// Items move from thread to thread; the last stage has no lock of its own.
bool pipeline() {
  int next = 0;
  std::vector<std::string> kept;
  std::size_t length = 0;
  nigh::parallel_pipeline(
      4,
      nigh::stage(nigh::stage_mode::serial_in_order,
                  [&]() -> std::optional<std::string> {
                    if (next == 300) return std::nullopt;
                    return "item on the heap, as it is a long text " + std::to_string(next++);
                  }),
      nigh::stage(nigh::stage_mode::parallel, [](std::string item) { return item + " and longer"; }),
      nigh::stage(nigh::stage_mode::serial_out_of_order,
                  [&](std::string item) {
                    length += item.size();
                    return item;
                  }),
      nigh::stage(nigh::stage_mode::serial_in_order, [&](std::string item) { kept.push_back(std::move(item)); }));
  return kept.size() == 300 && kept[299].find(" 299 ") != std::string::npos && length > 0;
}

// Tasks inside a region hold a lock while they wait for others.
bool isolated_regions() {
  std::mutex mutex;
  std::vector<long> v(100);
  long total = 0;
  nigh::parallel_for(0, 20, [&](int) {
    nigh::this_task_region::isolate([&] {
      std::lock_guard const lock(mutex);
      nigh::parallel_for(std::size_t{0}, v.size(), [&](std::size_t i) { ++v[i]; });
      total = std::accumulate(v.begin(), v.end(), 0L);
    });
  });
  return total == 2000;
}

bool standard_algorithms() {
  auto v = texts(9'000);
  std::sort(std::execution::par, v.begin(), v.end());
  std::vector<std::size_t> lengths(v.size());
  std::transform(std::execution::par, v.begin(), v.end(), lengths.begin(), [](auto const& s) { return s.size(); });
  auto const all = std::reduce(std::execution::par, lengths.begin(), lengths.end());
  std::inclusive_scan(std::execution::par, lengths.begin(), lengths.end(), lengths.begin());
  return std::is_sorted(v.begin(), v.end()) && lengths.back() == all;
}

constexpr feature all[] = {
    {"generate_and_histogram", generate_and_histogram},
    {"find_and_count", find_and_count},
    {"filter", filter},
    {"unique", unique},
    {"partition", partition},
    {"merge", merge},
    {"sort_by_key", sort_by_key},
    {"values_of_each_thread", values_of_each_thread},
    {"pipeline", pipeline},
    {"isolated_regions", isolated_regions},
    {"standard_algorithms", standard_algorithms},
};

}  // namespace

std::span<feature const> algorithm_features() { return all; }

}  // namespace user
