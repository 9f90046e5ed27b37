// SPDX-License-Identifier: Apache-2.0
// Scores of the best local alignments (Smith and Waterman, with affine gaps) of all pairs of
// sequences: a task a pair, made by a loop that the threads share.
#include <algorithm>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

constexpr int gap_open = 10, gap_extend = 1;

int similarity(char a, char b) { return a == b ? 5 : ((a ^ b) & 3) == 0 ? 1 : -3; }

int score(std::string const& a, std::string const& b) {
  std::vector<int> best(b.size() + 1, 0), gap(b.size() + 1, -gap_open);
  int highest = 0;
  for (char const x : a) {
    int diagonal = 0, left_gap = -gap_open;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      gap[j] = std::max(gap[j] - gap_extend, best[j] - gap_open);
      left_gap = std::max(left_gap - gap_extend, best[j - 1] - gap_open);
      int const here = std::max({0, diagonal + similarity(x, b[j - 1]), gap[j], left_gap});
      diagonal = best[j];
      best[j] = here;
      highest = std::max(highest, here);
    }
  }
  return highest;
}

}  // namespace

int main(int argc, char** argv) {
  auto const count = static_cast<std::size_t>(task_program::size_from(argc, argv, 60, {1, 10'000}));
  std::vector<std::string> sequences(count);
  task_program::Sequence numbers(1);
  for (auto& s : sequences) {
    s.resize(100 + numbers.next() % 300);
    for (char& c : s) c = static_cast<char>('A' + numbers.next() % 20);
  }
  std::vector<int> scores(count * count, 0), expected(scores.size(), 0);
  double const seconds = task_program::timed([&] {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) {
#pragma omp task firstprivate(i, j)
        scores[i * count + j] = score(sequences[i], sequences[j]);
      }
  });
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      expected[i * count + j] = score(sequences[i], sequences[j]);
  return task_program::report(seconds, scores == expected);
}
