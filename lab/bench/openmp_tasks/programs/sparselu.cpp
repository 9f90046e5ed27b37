// SPDX-License-Identifier: Apache-2.0
// LU decomposition of a sparse matrix of blocks. One thread makes the tasks of a step, or with
// "for" all threads do, in loops that they share.
#include <cmath>
#include <cstring>
#include <vector>

#include "program.hpp"

namespace {

constexpr int side = 32;  // of a block
using Block = std::vector<float>;

struct Matrix {
  explicit Matrix(int n)
      : size(n), blocks(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}
  Block& at(int i, int j) {
    return blocks[static_cast<std::size_t>(i) * static_cast<std::size_t>(size) +
                  static_cast<std::size_t>(j)];
  }
  int size;
  std::vector<Block> blocks;  // empty: only zeros
};

bool is_absent(int i, int j) {
  if (i == j || i == j + 1 || j == i + 1) return false;
  return (i < j && i % 3 != 0) || (i > j && j % 3 != 0) || i % 2 == 1 || j % 2 == 1;
}

Matrix filled(int n) {
  Matrix matrix(n);
  unsigned s = 1325;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (is_absent(i, j)) continue;
      matrix.at(i, j).resize(side * side);
      for (float& x : matrix.at(i, j)) {
        s = 3125 * s % 65536;
        x = (static_cast<float>(s) - 32768.0f) / 16384.0f;
      }
    }
  return matrix;
}

void lu0(float* d) {
  for (int k = 0; k < side; ++k)
    for (int i = k + 1; i < side; ++i) {
      d[i * side + k] /= d[k * side + k];
      for (int j = k + 1; j < side; ++j) d[i * side + j] -= d[i * side + k] * d[k * side + j];
    }
}

void fwd(float const* d, float* row) {
  for (int k = 0; k < side; ++k)
    for (int i = k + 1; i < side; ++i)
      for (int j = 0; j < side; ++j) row[i * side + j] -= d[i * side + k] * row[k * side + j];
}

void bdiv(float const* d, float* column) {
  for (int i = 0; i < side; ++i)
    for (int k = 0; k < side; ++k) {
      column[i * side + k] /= d[k * side + k];
      for (int j = k + 1; j < side; ++j)
        column[i * side + j] -= column[i * side + k] * d[k * side + j];
    }
}

void bmod(float const* column, float const* row, float* inner) {
  for (int i = 0; i < side; ++i)
    for (int k = 0; k < side; ++k)
      for (int j = 0; j < side; ++j)
        inner[i * side + j] -= column[i * side + k] * row[k * side + j];
}

void update(Matrix& m, int i, int j, int k) {
  if (m.at(i, j).empty()) m.at(i, j).resize(side * side);
  bmod(m.at(i, k).data(), m.at(k, j).data(), m.at(i, j).data());
}

void serial(Matrix& m) {
  for (int k = 0; k < m.size; ++k) {
    lu0(m.at(k, k).data());
    for (int j = k + 1; j < m.size; ++j)
      if (!m.at(k, j).empty()) fwd(m.at(k, k).data(), m.at(k, j).data());
    for (int i = k + 1; i < m.size; ++i)
      if (!m.at(i, k).empty()) bdiv(m.at(k, k).data(), m.at(i, k).data());
    for (int i = k + 1; i < m.size; ++i)
      for (int j = k + 1; j < m.size; ++j)
        if (!m.at(i, k).empty() && !m.at(k, j).empty()) update(m, i, j, k);
  }
}

void by_one(Matrix& m) {
  for (int k = 0; k < m.size; ++k) {
    lu0(m.at(k, k).data());
    for (int j = k + 1; j < m.size; ++j)
      if (!m.at(k, j).empty()) {
#pragma omp task firstprivate(j, k) shared(m)
        fwd(m.at(k, k).data(), m.at(k, j).data());
      }
    for (int i = k + 1; i < m.size; ++i)
      if (!m.at(i, k).empty()) {
#pragma omp task firstprivate(i, k) shared(m)
        bdiv(m.at(k, k).data(), m.at(i, k).data());
      }
#pragma omp taskwait
    for (int i = k + 1; i < m.size; ++i)
      for (int j = k + 1; j < m.size; ++j)
        if (!m.at(i, k).empty() && !m.at(k, j).empty()) {
#pragma omp task firstprivate(i, j, k) shared(m)
          update(m, i, j, k);
        }
#pragma omp taskwait
  }
}

// Called by all threads of the team.
void by_all(Matrix& m) {
  for (int k = 0; k < m.size; ++k) {
#pragma omp single
    lu0(m.at(k, k).data());
#pragma omp for nowait
    for (int j = k + 1; j < m.size; ++j)
      if (!m.at(k, j).empty()) {
#pragma omp task firstprivate(j, k) shared(m)
        fwd(m.at(k, k).data(), m.at(k, j).data());
      }
#pragma omp for
    for (int i = k + 1; i < m.size; ++i)
      if (!m.at(i, k).empty()) {
#pragma omp task firstprivate(i, k) shared(m)
        bdiv(m.at(k, k).data(), m.at(i, k).data());
      }
#pragma omp for
    for (int i = k + 1; i < m.size; ++i)
      for (int j = k + 1; j < m.size; ++j)
        if (!m.at(i, k).empty() && !m.at(k, j).empty()) {
#pragma omp task firstprivate(i, j, k) shared(m)
          update(m, i, j, k);
        }
  }
}

bool same(Matrix& a, Matrix& b) {
  for (std::size_t n = 0; n < a.blocks.size(); ++n) {
    if (a.blocks[n].size() != b.blocks[n].size()) return false;
    for (std::size_t x = 0; x < a.blocks[n].size(); ++x)
      if (std::abs(a.blocks[n][x] - b.blocks[n][x]) > 1e-6f * std::abs(b.blocks[n][x]))
        return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int const n =
      static_cast<int>(task_program::size_from(argc, argv, 40, {1, 1'000}, " [single|for]"));
  bool const all = argc > 2 && std::strcmp(argv[2], "for") == 0;
  if (argc > 2 && !all && std::strcmp(argv[2], "single") != 0)
    task_program::refuse(argv[0], argv[2], "for or single");
  Matrix matrix = filled(n), expected = filled(n);
  double const seconds = task_program::timed([&] {
    if (all) {
#pragma omp parallel
      by_all(matrix);
    } else {
#pragma omp parallel
#pragma omp single
      by_one(matrix);
    }
  });
  serial(expected);
  return task_program::report(seconds, same(matrix, expected));
}
