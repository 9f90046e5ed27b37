// SPDX-License-Identifier: Apache-2.0
// The smallest floor for cells that stand right of, or below, one that stands already: branch and
// bound, a task for each place and shape of the next cell. Which branches are cut depends on time;
// the smallest area does not.
#include <algorithm>
#include <vector>

#include "program.hpp"

namespace {

constexpr int most_cells = 12, most_side = 64;

struct Shape {
  int height, width;
};

struct Cell {
  Shape shapes[3];
  int count;
};

struct Floor {
  unsigned long rows[most_side];  // a bit for each square that is taken
  int height, width;
  int bottom[most_cells], right[most_cells], top[most_cells], left[most_cells];
};

std::vector<Cell> cells;
int best;  // area of the smallest floor so far

int area_so_far() {
  int area = 0;
#pragma omp atomic read
  area = best;
  return area;
}

void found_one(int area) {
#pragma omp critical
  if (area < best) {
#pragma omp atomic write
    best = area;
  }
}

bool put(Floor& floor, int cell, Shape shape, int top, int left) {
  if (top + shape.height > most_side || left + shape.width > most_side) return false;
  unsigned long const bits = ((1ul << shape.width) - 1) << left;
  for (int row = top; row < top + shape.height; ++row)
    if ((floor.rows[row] & bits) != 0) return false;
  for (int row = top; row < top + shape.height; ++row) floor.rows[row] |= bits;
  floor.top[cell] = top;
  floor.left[cell] = left;
  floor.bottom[cell] = top + shape.height;
  floor.right[cell] = left + shape.width;
  floor.height = std::max(floor.height, floor.bottom[cell]);
  floor.width = std::max(floor.width, floor.right[cell]);
  return true;
}

void place(Floor const& floor, int cell);

void try_one(Floor const& floor, int cell, Shape shape, int top, int left) {
  Floor next = floor;
  if (!put(next, cell, shape, top, left)) return;
  int const area = next.height * next.width;
  if (area >= area_so_far()) return;
  if (cell + 1 == static_cast<int>(cells.size())) return found_one(area);
  place(next, cell + 1);
}

void place(Floor const& floor, int cell) {
  for (int s = 0; s < cells[static_cast<std::size_t>(cell)].count; ++s)
    for (int beside = 0; beside < cell; ++beside)
      for (int below = 0; below < 2; ++below) {
        Shape const shape = cells[static_cast<std::size_t>(cell)].shapes[s];
        int const top = below != 0 ? floor.bottom[beside] : floor.top[beside];
        int const left = below != 0 ? floor.left[beside] : floor.right[beside];
#pragma omp task firstprivate(shape, top, left) shared(floor)
        try_one(floor, cell, shape, top, left);
      }
#pragma omp taskwait
}

Floor with_first(Shape shape) {
  Floor floor{};
  put(floor, 0, shape, 0, 0);
  return floor;
}

void solve() {
  best = most_side * most_side + 1;
  for (int s = 0; s < cells[0].count; ++s) place(with_first(cells[0].shapes[s]), 1);
}

}  // namespace

int main(int argc, char** argv) {
  auto const count =
      static_cast<std::size_t>(task_program::size_from(argc, argv, 7, {2, most_cells}));
  task_program::Sequence numbers(7);
  for (std::size_t n = 0; n < count; ++n) {
    int const height = 1 + static_cast<int>(numbers.next() % 5),
              width = 1 + static_cast<int>(numbers.next() % 5);
    Cell cell{{{height, width}, {width, height}, {}}, height == width ? 1 : 2};
    cells.push_back(cell);
  }
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    solve();
  });
  int const found = best;
  solve();  // outside of any region, so by this thread alone
  return task_program::report(seconds, found == best);
}
