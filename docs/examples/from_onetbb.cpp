// SPDX-License-Identifier: Apache-2.0
// Programs of oneTBB's users on nigh: a graph of tasks, a pipeline, a result from a scope, an
// isolated region. c++ -std=c++20 -O2 from_onetbb.cpp $(pkg-config --cflags --libs nigh)

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <mutex>
#include <nigh/isolate.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_pipeline.hpp>
#include <nigh/task_scope.hpp>
#include <optional>
#include <string>
#include <vector>

// The longest common subsequence of two texts, in tiles: each comes after the one above it and the
// one to its left.
int common_letters(std::string const& a, std::string const& b) {
  constexpr std::size_t tile = 250;
  std::size_t const tiles = a.size() / tile, width = b.size() + 1;
  std::vector<int> best((a.size() + 1) * width);
  auto const fill = [&](std::size_t i0, std::size_t j0) {
    for (std::size_t i = i0 + 1; i <= i0 + tile; ++i)
      for (std::size_t j = j0 + 1; j <= j0 + tile; ++j) {
        auto const* above = &best[(i - 1) * width + j];
        auto& here = best[i * width + j];
        here = a[i - 1] == b[j - 1] ? above[-1] + 1 : std::max(above[0], (&here)[-1]);
      }
  };
  nigh::task_scope scope;
  std::vector<nigh::task_handle<>> row(tiles + 1, scope.spawn(nigh::after(), [] {}));
  for (std::size_t i = 0; i < tiles; ++i)
    for (std::size_t j = 0; j < tiles; ++j)
      row[j + 1] = scope.spawn(nigh::after(row[j], row[j + 1]), [=] { fill(i * tile, j * tile); });
  scope.wait();
  return best.back();
}

std::string letters(unsigned seed, std::size_t count) {
  std::string text(count, ' ');
  for (auto& c : text) c = "acgt"[(seed = seed * 1664525 + 1013904223) >> 30];
  return text;
}

int main() {
  std::printf("in common %d\n", common_letters(letters(1, 2000), letters(2, 2000)));

  std::vector<std::string> lines;
  auto const read = nigh::stage(nigh::stage_mode::serial_in_order,
                                [n = 0]() mutable -> std::optional<std::string> {
                                  if (n == 1000) return {};
                                  return "line " + std::to_string(n++);
                                });
  auto const shout = nigh::stage(nigh::stage_mode::parallel, [](std::string line) {
    for (auto& c : line) c = static_cast<char>(std::toupper(c));
    return line;
  });
  auto const keep = nigh::stage(nigh::stage_mode::serial_in_order,
                                [&](std::string line) { lines.push_back(std::move(line)); });
  nigh::parallel_pipeline(8, read, shout, keep);
  std::printf("%zu lines, the last is %s\n", lines.size(), lines.back().c_str());

  nigh::task_scope scope;
  auto const count = scope.async([&] { return std::count(lines[7].begin(), lines[7].end(), 'L'); });
  auto const text =
      scope.async(nigh::after(count), [&] { return std::to_string(count.get()) + " L"; });
  std::printf("%s\n", text.get().c_str());

  std::mutex lock;
  long sum = 0;
  for (int i = 0; i < 10; ++i)
    scope.spawn([&] {
      std::lock_guard const guard(lock);
      nigh::this_task_region::isolate([&] {
        std::vector<long> part(100);
        nigh::parallel_for(0, 100, [&](int k) { part[static_cast<std::size_t>(k)] = k; });
        for (long const p : part) sum += p;
      });
    });
  scope.wait();
  std::printf("sum %ld\n", sum);
}
