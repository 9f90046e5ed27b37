// SPDX-License-Identifier: Apache-2.0
#pragma once
// The blocks of one process: their memory, and what an iteration does to them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nigh/array.hpp>
#include <vector>

#include "jacobi2d/kernel.hpp"
#include "jacobi2d/problem.hpp"

namespace jacobi2d {

// The work of a variant on blocks. It calls, for every block, by one team of threads each:
//
//   begin(block)                by one of them
//   tile(block, step, ...)      for each step, one after the other: tiles that together are the
//                               block, by any of them
//   end(block)                  by one of them

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

// Carries borders between processes. `tag` tells the borders of two processes apart.
class Courier {
 public:
  virtual ~Courier() = default;
  // By one thread, at an iteration's beginning: such a border will come.
  virtual void expect(int rank, int tag, double* to, int doubles) noexcept = 0;
  // By any thread, as soon as a block is through. `from` stays as it is until finish() returns.
  virtual void send(int rank, int tag, double const* from, int doubles) noexcept = 0;
  // By any thread, whenever a block is through: a chance to move on what is under way.
  virtual void progress() noexcept {}
  // By one thread, at an iteration's end: all that was expected is there, all that was sent is out.
  virtual void finish() noexcept = 0;
};

// Whole rows of blocks for each process, as even as can be; not more processes than rows.
struct Part {
  int rank = 0, ranks = 1;

  int first_row(int blocks) const noexcept { return blocks * rank / ranks; }
  int end_row(int blocks) const noexcept { return blocks * (rank + 1) / ranks; }
};

// A block has two fields, which the time steps go back and forth between, and two inboxes of four
// borders: of the iteration that goes on, read when the block is visited, and of the next one,
// written by its neighbours as soon as they are through.
//
//   1. A neighbour writes into an inbox that nobody reads before the iteration ends.
//   2. Ghosts are written by the block's own visit alone.
//
// So blocks of one iteration are independent of each other.
class Blocks {
 public:
  // std::bad_alloc with the bytes asked and available. A courier is needed by many processes.
  Blocks(Problem const& problem, Kernel const& kernel, nigh::topology const* machine,
         Part part = {}, Courier* courier = nullptr);
  ~Blocks();

  int count() const noexcept { return static_cast<int>(places_.size()); }
  Problem const& problem() const noexcept { return problem_; }

  // First values of all fields: to be done once more before each run; it also touches the pages.
  Work& fill() noexcept;
  // Every block once: an iteration, between begin_iteration() and end_iteration().
  Work& visit() noexcept;
  void begin_iteration() noexcept;
  void end_iteration() noexcept;
  // Of each block; the sum of all is to be compared.
  Work& checksums() noexcept;
  std::uint64_t checksum() const noexcept;

 private:
  enum Side { above, below, left, right };
  struct Place {
    int row = 0, column = 0;            // within the whole grid of blocks
    std::array<int, 4> neighbour = {};  // [side]: block; or one of the below
  };
  static constexpr int border = -1;     // of the square
  static constexpr int elsewhere = -2;  // in another process

  class Fill;
  class Visit;
  class Checksums;

  void place_blocks(Part const& part);
  double* field(int block, int which) noexcept;
  double* inbox(int block, int iteration, Side side) noexcept;
  int remote_rank(Side side) const noexcept {
    return side == above ? part_.rank - 1 : part_.rank + 1;
  }
  void take_in(int block) noexcept;
  void send(int block) noexcept;

  Problem problem_;
  Layout layout_;
  Kernel kernel_;
  Part part_;
  Courier* courier_;
  std::vector<Place> places_;
  nigh::array<double> memory_;
  std::ptrdiff_t stride_ = 0;  // from a block's memory to the next one's
  int iteration_ = 0;
  std::vector<std::uint64_t> sums_;
  std::unique_ptr<Fill> fill_;
  std::unique_ptr<Visit> visit_;
  std::unique_ptr<Checksums> checksums_;
};

}  // namespace jacobi2d
