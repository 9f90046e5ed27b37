// SPDX-License-Identifier: Apache-2.0
#pragma once
// All ways to put n queens on an n x n board such that none attacks another; one task a safe
// placement, so a task for every node of the search tree but the root.

#include <array>
#include <cstdint>
#include <cstdlib>

namespace nqueens {

inline constexpr int most_rows = 16;

struct Config {
  int n = 12;
  int cutoff = 0;  // row from which on no tasks are made, 0: none
};

// Queens in the first rows, one each. A task copies its parent's board, and adds one: a copy made
// right after the byte was written would wait for that write (store forwarding).
struct Board {
  std::uint64_t columns = 0;  // four bits for each row r < rows, row 0 lowest
  std::int8_t rows = 0;
  std::int8_t n = 0;
  std::int8_t cutoff = most_rows;

  bool full() const noexcept { return rows == n; }

  bool safe(int next) const noexcept {
    auto placed = columns;
    for (int apart = rows; apart > 0; --apart, placed >>= 4) {
      int const aside = std::abs(next - static_cast<int>(placed & 15));
      if (aside == 0 || aside == apart) return false;
    }
    return true;
  }

  Board with(int next) const noexcept {
    Board child = *this;
    child.columns |= static_cast<std::uint64_t>(next) << (4 * rows);
    ++child.rows;
    return child;
  }
};

inline Board empty_board(Config const& config) noexcept {
  Board b;
  b.n = static_cast<std::int8_t>(config.n);
  if (config.cutoff > 0 && config.cutoff < most_rows)
    b.cutoff = static_cast<std::int8_t>(config.cutoff);
  return b;
}

// The counts of the children of one node, to be added up when all have ended.
class Found {
 public:
  std::uint64_t& of(int child) noexcept { return counts_[static_cast<std::size_t>(child)]; }
  std::uint64_t sum(int children) const noexcept {
    std::uint64_t total = 0;
    for (int c = 0; c < children; ++c) total += counts_[static_cast<std::size_t>(c)];
    return total;
  }

 private:
  std::array<std::uint64_t, most_rows> counts_;
};

std::uint64_t serial(Board board) noexcept;  // ways to fill it up

std::uint64_t solve_serial(Config const& config);
std::uint64_t solve_openmp(Config const& config);
std::uint64_t solve_tbb(Config const& config);
std::uint64_t solve_nigh(Config const& config);

}  // namespace nqueens
