// SPDX-License-Identifier: Apache-2.0
#pragma once
// The work of a variant on blocks. It calls, for every block, by one team of threads each:
//
//   begin(block)                by one of them
//   tile(block, step, ...)      for each step, one after the other: tiles that together are the
//                               block, by any of them
//   end(block)                  by one of them

#include <cstddef>

namespace jacobi2d {

struct Tile {
  int row = 0, row_end = 0;
  int column = 0, column_end = 0;
};

class Work {
 public:
  Work(int blocks, int points, int steps) noexcept
      : blocks_(blocks), points_(points), steps_(steps) {}
  virtual ~Work() = default;
  Work(Work const&) = delete;
  Work& operator=(Work const&) = delete;

  int blocks() const noexcept { return blocks_; }
  int points() const noexcept { return points_; }
  int steps() const noexcept { return steps_; }

  // Run again and again, so that something can be learnt about it: the iterations.
  virtual bool is_iteration() const noexcept { return false; }

  virtual void begin(int) noexcept {}
  virtual void tile(int, int, Tile const&) noexcept {}
  virtual void end(int) noexcept {}

  void rows(int block, int step, int first, int last) noexcept {
    tile(block, step, {first, last, 0, points_});
  }

 private:
  int blocks_, points_, steps_;
};

}  // namespace jacobi2d
