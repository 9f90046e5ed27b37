// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/blocks.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace jacobi2d {

class Blocks::Fill : public Work {
 public:
  explicit Fill(Blocks& b) : Work(b.count(), b.problem_.points, 1), blocks_(b) {}

  void tile(int block, int, Tile const& t) noexcept override {
    auto const n = blocks_.problem_.points;
    Place const& p = blocks_.places_[static_cast<std::size_t>(block)];
    int const first = t.row == 0 ? -1 : t.row, end = t.row_end == n ? n + 1 : t.row_end;
    for (int which = 0; which < 2; ++which)
      for (int r = first; r < end; ++r) {
        double* const row = blocks_.field(block, which) + blocks_.layout_.at(r, 0);
        for (int c = -1; c <= n; ++c)
          row[c] = initial_value(std::ptrdiff_t{p.row} * n + r, std::ptrdiff_t{p.column} * n + c);
      }
  }

 private:
  Blocks& blocks_;
};

class Blocks::Visit : public Work {
 public:
  explicit Visit(Blocks& b) : Work(b.count(), b.problem_.points, b.problem_.steps), blocks_(b) {}

  bool is_iteration() const noexcept override { return true; }
  void begin(int block) noexcept override { blocks_.take_in(block); }
  void tile(int block, int step, Tile const& t) noexcept override {
    int const which = blocks_.iteration_ * steps() + step;
    auto const at = blocks_.layout_.at(t.row, t.column);
    blocks_.kernel_.sweep(blocks_.field(block, which) + at, blocks_.field(block, which + 1) + at,
                          blocks_.layout_.row, t.row_end - t.row, t.column_end - t.column);
  }
  void end(int block) noexcept override { blocks_.send(block); }

 private:
  Blocks& blocks_;
};

class Blocks::Checksums : public Work {
 public:
  explicit Checksums(Blocks& b) : Work(b.count(), b.problem_.points, 0), blocks_(b) {}

  void end(int block) noexcept override {
    Problem const& problem = blocks_.problem_;
    Place const& p = blocks_.places_[static_cast<std::size_t>(block)];
    std::ptrdiff_t const n = problem.points;
    std::uint64_t sum = 0;
    for (std::ptrdiff_t r = 0; r < n; ++r) {
      double const* const row =
          blocks_.field(block, blocks_.iteration_ * problem.steps) + blocks_.layout_.at(r, 0);
      for (std::ptrdiff_t c = 0; c < n; ++c)
        sum += point_checksum(problem, p.row * n + r, p.column * n + c, row[c]);
    }
    blocks_.sums_[static_cast<std::size_t>(block)] = sum;
  }

 private:
  Blocks& blocks_;
};

Blocks::Blocks(Problem const& problem, Kernel const& kernel, nigh::topology const* machine,
               Part part, Courier* courier)
    : problem_(problem), layout_(problem.points), kernel_(kernel), part_(part), courier_(courier) {
  place_blocks(part);
  stride_ = 2 * layout_.field + 2 * 4 * layout_.border;
  nigh::array_options options;
  options.machine = machine;
  memory_ = nigh::array<double>(static_cast<std::size_t>(stride_) * places_.size(),
                                nigh::placement::first_touch(), options);
  sums_.resize(places_.size());
  fill_ = std::make_unique<Fill>(*this);
  visit_ = std::make_unique<Visit>(*this);
  checksums_ = std::make_unique<Checksums>(*this);
}

Blocks::~Blocks() = default;

// Those whose borders go to another process come first: their messages travel while the others are
// worked on.
void Blocks::place_blocks(Part const& part) {
  int const along = problem_.blocks;
  int const first = part.first_row(along), end = part.end_row(along);
  std::vector<int> rows(static_cast<std::size_t>(end - first));
  std::iota(rows.begin(), rows.end(), first);
  auto const is_inner = [&](int row) {
    return (row > first || first == 0) && (row + 1 < end || end == along);
  };
  std::stable_partition(rows.begin(), rows.end(), [&](int row) { return !is_inner(row); });

  std::vector<int> number(static_cast<std::size_t>(along * along), elsewhere);
  for (int const row : rows)
    for (int column = 0; column < along; ++column) {
      number[static_cast<std::size_t>(row * along + column)] = count();
      places_.push_back({row, column, {}});
    }
  auto const at = [&](int row, int column) {
    bool const inside = row >= 0 && row < along && column >= 0 && column < along;
    return inside ? number[static_cast<std::size_t>(row * along + column)] : border;
  };
  for (Place& p : places_)
    p.neighbour = {at(p.row - 1, p.column), at(p.row + 1, p.column), at(p.row, p.column - 1),
                   at(p.row, p.column + 1)};
}

double* Blocks::field(int block, int which) noexcept {
  return memory_.data() + block * stride_ + which % 2 * layout_.field;
}

double* Blocks::inbox(int block, int iteration, Side side) noexcept {
  return memory_.data() + block * stride_ + 2 * layout_.field +
         (iteration % 2 * 4 + static_cast<int>(side)) * layout_.border;
}

Work& Blocks::fill() noexcept {
  iteration_ = 0;
  return *fill_;
}
Work& Blocks::visit() noexcept { return *visit_; }
Work& Blocks::checksums() noexcept { return *checksums_; }

std::uint64_t Blocks::checksum() const noexcept {
  return std::accumulate(sums_.begin(), sums_.end(), std::uint64_t{0});
}

void Blocks::begin_iteration() noexcept {
  if (courier_ == nullptr || !problem_.sends) return;
  for (int b = 0; b < count(); ++b)
    for (Side const side : {above, below}) {
      Place const& p = places_[static_cast<std::size_t>(b)];
      if (p.neighbour[side] == elsewhere)
        courier_->expect(remote_rank(side), p.column, inbox(b, iteration_ + 1, side),
                         problem_.points);
    }
}

void Blocks::end_iteration() noexcept {
  if (courier_ != nullptr && problem_.sends) courier_->finish();
  ++iteration_;
}

// With several steps both fields are read, so both get the ghosts. Before the first iteration they
// have them already.
void Blocks::take_in(int block) noexcept {
  if (!problem_.sends || iteration_ == 0) return;
  std::ptrdiff_t const n = problem_.points;
  Place const& p = places_[static_cast<std::size_t>(block)];
  int const first = iteration_ * problem_.steps;
  for (int which = first; which < first + std::min(2, problem_.steps); ++which) {
    double* const f = field(block, which);
    auto const received = [&](Side side) -> double const* {
      return p.neighbour[side] == border ? nullptr : inbox(block, iteration_, side);
    };
    if (auto const* from = received(above)) std::copy_n(from, n, f + layout_.at(-1, 0));
    if (auto const* from = received(below)) std::copy_n(from, n, f + layout_.at(n, 0));
    if (auto const* from = received(left))
      for (std::ptrdiff_t r = 0; r < n; ++r) f[layout_.at(r, -1)] = from[r];
    if (auto const* from = received(right))
      for (std::ptrdiff_t r = 0; r < n; ++r) f[layout_.at(r, n)] = from[r];
  }
}

void Blocks::send(int block) noexcept {
  if (!problem_.sends) return;
  std::ptrdiff_t const n = problem_.points;
  Place const& p = places_[static_cast<std::size_t>(block)];
  double const* const f = field(block, (iteration_ + 1) * problem_.steps);
  auto const send_row = [&](Side to, Side theirs, double const* row) {
    int const other = p.neighbour[to];
    if (other == elsewhere)
      courier_->send(remote_rank(to), p.column, row, problem_.points);
    else if (other != border)
      std::copy_n(row, n, inbox(other, iteration_ + 1, theirs));
  };
  auto const send_column = [&](Side to, Side theirs, std::ptrdiff_t column) {
    int const other = p.neighbour[to];
    if (other == border) return;
    double* const target = inbox(other, iteration_ + 1, theirs);
    for (std::ptrdiff_t r = 0; r < n; ++r) target[r] = f[layout_.at(r, column)];
  };
  send_row(above, below, f + layout_.at(0, 0));
  send_row(below, above, f + layout_.at(n - 1, 0));
  send_column(left, right, 0);
  send_column(right, left, n - 1);
  if (courier_ != nullptr) courier_->progress();
}

}  // namespace jacobi2d
