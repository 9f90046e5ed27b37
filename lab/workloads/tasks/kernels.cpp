// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>

#include "tasks/sort.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"

namespace sparselu {

Matrix::Matrix(int blocks, int side)
    : blocks_(blocks),
      side_(side),
      slots_(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(blocks)) {
  refill();
}

void Matrix::refill() {
  int state = 1325;
  for (int row = 0; row < blocks_; ++row)
    for (int column = 0; column < blocks_; ++column) {
      Block& block = slot(row, column);
      if (!present_at_start(row, column)) {
        block.reset();
        continue;
      }
      if (block == nullptr) block = std::make_unique_for_overwrite<float[]>(floats());
      for (std::size_t n = 0; n < floats(); ++n) {
        state = 3125 * state % 65536;
        block[n] = static_cast<float>((state - 32768.0) / 16384.0);
      }
    }
}

float* Matrix::at_or_zeros(int row, int column) {
  Block& block = slot(row, column);
  if (block == nullptr) block = std::make_unique<float[]>(floats());
  return block.get();
}

std::uint64_t Matrix::checksum() const noexcept {
  constexpr std::uint64_t prime = 1099511628211U;  // FNV-1a, a word at a time
  std::uint64_t sum = 14695981039346656037U;
  for (Block const& block : slots_) {
    sum = (sum ^ (block != nullptr)) * prime;
    if (block == nullptr) continue;
    for (std::size_t n = 0; n < floats(); ++n)
      sum = (sum ^ std::bit_cast<std::uint32_t>(block[n])) * prime;
  }
  return sum;
}

namespace {

// to[j] -= factor * from[j], for j in [first, b). The rows never overlap.
void subtract(float* __restrict to, float factor, float const* __restrict from, int first,
              int b) noexcept {
  for (int j = first; j < b; ++j) to[j] -= factor * from[j];
}

std::ptrdiff_t at(int row, int b) noexcept { return static_cast<std::ptrdiff_t>(row) * b; }

}  // namespace

void lu0(float* diagonal, int b) noexcept {
  for (int k = 0; k < b; ++k)
    for (int i = k + 1; i < b; ++i) {
      float* const row = diagonal + at(i, b);
      row[k] /= diagonal[at(k, b) + k];
      subtract(row, row[k], diagonal + at(k, b), k + 1, b);
    }
}

void fwd(float const* diagonal, float* column, int b) noexcept {
  for (int k = 0; k < b; ++k)
    for (int i = k + 1; i < b; ++i)
      subtract(column + at(i, b), diagonal[at(i, b) + k], column + at(k, b), 0, b);
}

void bdiv(float const* diagonal, float* row, int b) noexcept {
  for (int i = 0; i < b; ++i)
    for (int k = 0; k < b; ++k) {
      float* const line = row + at(i, b);
      line[k] /= diagonal[at(k, b) + k];
      subtract(line, line[k], diagonal + at(k, b), k + 1, b);
    }
}

void bmod(float const* row, float const* column, float* inner, int b) noexcept {
  for (int i = 0; i < b; ++i)
    for (int k = 0; k < b; ++k)
      subtract(inner + at(i, b), row[at(i, b) + k], column + at(k, b), 0, b);
}

}  // namespace sparselu

namespace strassen {

namespace {

template <class F>
void combine(Square to, Square a, Square b, F f) noexcept {
  for (std::ptrdiff_t r = 0; r < to.rows; ++r) {
    double* __restrict const t = to.first + r * to.stride;
    double const* const x = a.first + r * a.stride;
    double const* const y = b.first + r * b.stride;
    for (std::ptrdiff_t n = 0; n < to.rows; ++n) t[n] = f(x[n], y[n]);
  }
}

}  // namespace

void add(Square to, Square a, Square b) noexcept {
  combine(to, a, b, [](double x, double y) { return x + y; });
}

void subtract(Square to, Square a, Square b) noexcept {
  combine(to, a, b, [](double x, double y) { return x - y; });
}

void multiply(Square to, Square a, Square b) noexcept {
  for (std::ptrdiff_t r = 0; r < to.rows; ++r) {
    double* __restrict const t = to.first + r * to.stride;
    std::fill_n(t, to.rows, 0.0);
    for (std::ptrdiff_t k = 0; k < to.rows; ++k) {
      double const factor = a.first[r * a.stride + k];
      double const* __restrict const y = b.first + k * b.stride;
      for (std::ptrdiff_t n = 0; n < to.rows; ++n) t[n] += factor * y[n];
    }
  }
}

Step::Step(Square c, Square a, Square b)
    : c_(c), a_(a), b_(b), half_(c.rows / 2), results_(products * area()) {}

Square Step::left(int p, double* space) const noexcept {
  Square const a11 = a_.quadrant(0, 0), a12 = a_.quadrant(0, 1);
  Square const a21 = a_.quadrant(1, 0), a22 = a_.quadrant(1, 1);
  Square const made{space, half_, half_};
  switch (p) {
    case 0:
      return add(made, a11, a22), made;
    case 1:
      return add(made, a21, a22), made;
    case 2:
      return a11;
    case 3:
      return a22;
    case 4:
      return add(made, a11, a12), made;
    case 5:
      return subtract(made, a21, a11), made;
    default:
      return subtract(made, a12, a22), made;
  }
}

Square Step::right(int p, double* space) const noexcept {
  Square const b11 = b_.quadrant(0, 0), b12 = b_.quadrant(0, 1);
  Square const b21 = b_.quadrant(1, 0), b22 = b_.quadrant(1, 1);
  Square const made{space, half_, half_};
  switch (p) {
    case 0:
      return add(made, b11, b22), made;
    case 1:
      return b11;
    case 2:
      return subtract(made, b12, b22), made;
    case 3:
      return subtract(made, b21, b11), made;
    case 4:
      return b22;
    case 5:
      return add(made, b11, b12), made;
    default:
      return add(made, b21, b22), made;
  }
}

void Step::combine() const noexcept {
  auto const p = [this](int number, std::ptrdiff_t row) {
    return result(number).first + row * half_;
  };
  for (std::ptrdiff_t r = 0; r < half_; ++r) {
    double* __restrict const c11 = c_.first + r * c_.stride;
    double* __restrict const c12 = c11 + half_;
    double* __restrict const c21 = c11 + half_ * c_.stride;
    double* __restrict const c22 = c21 + half_;
    double const *const p0 = p(0, r), *const p1 = p(1, r), *const p2 = p(2, r), *const p3 = p(3, r),
                        *const p4 = p(4, r), *const p5 = p(5, r), *const p6 = p(6, r);
    for (std::ptrdiff_t n = 0; n < half_; ++n) {
      c11[n] = p0[n] + p3[n] - p4[n] + p6[n];
      c12[n] = p2[n] + p4[n];
      c21[n] = p1[n] + p3[n];
      c22[n] = p0[n] - p1[n] + p2[n] + p5[n];
    }
  }
}

}  // namespace strassen

namespace sort {

void Merge::run() const { std::merge(a.begin(), a.end(), b.begin(), b.end(), to.begin()); }

Halves partition(Numbers all) {
  std::uint32_t const x = all.front(), y = all[all.size() / 2], z = all.back();
  std::uint32_t const pivot = std::max(std::min(x, y), std::min(std::max(x, y), z));
  auto const below =
      std::partition(all.begin(), all.end(), [pivot](std::uint32_t n) { return n < pivot; });
  auto const above =
      std::partition(below, all.end(), [pivot](std::uint32_t n) { return n == pivot; });
  return {Numbers(all.begin(), below), Numbers(above, all.end())};
}

void sort_leaf(Numbers all) { std::sort(all.begin(), all.end()); }

}  // namespace sort
