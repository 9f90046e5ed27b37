// SPDX-License-Identifier: Apache-2.0
#include "cg/cg.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "npb_random.hpp"

namespace cg {

namespace {

constexpr double smallest_weight = 0.1;

struct Element {
  int place;
  double value;
};

using SparseVector = std::vector<Element>;

class Generator {
 public:
  // The benchmark draws a number before it makes the matrix.
  explicit Generator(int n)
      : n_(n), range_(static_cast<double>(std::bit_ceil(static_cast<unsigned>(n)))) {
    uniform();
  }

  // `nonzeros` random elements in distinct places, and 0.5 at `centre`.
  SparseVector vector(int nonzeros, int centre) {
    SparseVector v;
    while (static_cast<int>(v.size()) < nonzeros) {
      double const value = uniform();
      int const place = static_cast<int>(range_ * uniform());
      if (place < n_ && find(v, place) == v.end()) v.push_back({place, value});
    }
    if (auto const same = find(v, centre); same != v.end())
      same->value = 0.5;
    else
      v.push_back({centre, 0.5});
    return v;
  }

 private:
  static SparseVector::iterator find(SparseVector& v, int place) {
    return std::find_if(v.begin(), v.end(), [&](Element const& e) { return e.place == place; });
  }
  double uniform() noexcept {
    random_ = npb_random::next(random_);
    return npb_random::value(random_);
  }

  int n_;
  double range_;
  std::uint64_t random_ = npb_random::seed;
};

// Elements of one place are added in the order in which they came: the sum's bits are prescribed.
void merge(SparseVector& row) {
  std::stable_sort(row.begin(), row.end(),
                   [](Element const& a, Element const& b) { return a.place < b.place; });
  std::size_t kept = 0;
  for (std::size_t from = 0; from < row.size(); ++from)
    if (kept > 0 && row[kept - 1].place == row[from].place)
      row[kept - 1].value += row[from].value;
    else
      row[kept++] = row[from];
  row.resize(kept);
}

std::vector<SparseVector> make_rows(Class const& size) {
  auto const n = static_cast<std::size_t>(size.n);
  std::vector<SparseVector> rows(n);
  Generator generator(size.n);
  double weight = 1;
  double const ratio = std::pow(smallest_weight, 1.0 / size.n);
  for (int i = 0; i < size.n; ++i, weight *= ratio) {
    auto const x = generator.vector(size.nonzeros, i);
    for (Element const& a : x)
      for (Element const& b : x) {
        double value = b.value * (weight * a.value);
        if (a.place == i && b.place == i) value += smallest_weight - size.shift;
        rows[static_cast<std::size_t>(a.place)].push_back({b.place, value});
      }
  }
  return rows;
}

}  // namespace

Matrix make_matrix(Class const& size) {
  auto rows = make_rows(size);
#pragma omp parallel for
  for (int i = 0; i < size.n; ++i) merge(rows[static_cast<std::size_t>(i)]);

  Matrix m;
  m.n = size.n;
  m.row_begin.push_back(0);
  for (SparseVector const& row : rows) m.row_begin.push_back(m.row_begin.back() + row.size());
  m.column.resize(m.row_begin.back());
  m.value.resize(m.row_begin.back());
#pragma omp parallel for
  for (int i = 0; i < size.n; ++i) {
    auto to = m.row_begin[static_cast<std::size_t>(i)];
    for (Element const& e : rows[static_cast<std::size_t>(i)]) {
      m.column[to] = e.place;
      m.value[to++] = e.value;
    }
  }
  return m;
}

namespace {

constexpr Class all[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},     {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},   {'B', 75000, 13, 75, 60, 22.712745482631},
    {'C', 150000, 15, 75, 110, 28.973605592845},
};

using Vector = std::vector<double>;

constexpr int block = 256;  // rows whose sum is one number

// body(i) of all rows, added up in an order that no number of threads changes.
template <class Body>
double sum_over_rows(int n, Body body) {
  int const blocks = (n + block - 1) / block;
  Vector sums(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static)
  for (int b = 0; b < blocks; ++b) {
    double sum = 0;
    int const end = std::min((b + 1) * block, n);
    for (int i = b * block; i < end; ++i) sum += body(static_cast<std::size_t>(i));
    sums[static_cast<std::size_t>(b)] = sum;
  }
  double sum = 0;
  for (double const s : sums) sum += s;
  return sum;
}

double row_times(Matrix const& m, Vector const& v, std::size_t i) noexcept {
  double sum = 0;
  for (auto e = m.row_begin[i]; e < m.row_begin[i + 1]; ++e)
    sum += m.value[e] * v[static_cast<std::size_t>(m.column[e])];
  return sum;
}

class Solver {
 public:
  explicit Solver(Matrix const& matrix)
      : m_(matrix), p_(static_cast<std::size_t>(m_.n)), q_(p_.size()), r_(p_.size()) {}

  // A z = x, approximately; returns |x - A z|.
  double solve(Vector const& x, Vector& z) {
    constexpr int steps = 25;
    double rho = sum_over_rows(m_.n, [&](std::size_t i) {
      z[i] = 0;
      r_[i] = p_[i] = x[i];
      return x[i] * x[i];
    });
    for (int step = 0; step < steps; ++step) {
      double const d = sum_over_rows(m_.n, [&](std::size_t i) {
        q_[i] = row_times(m_, p_, i);
        return p_[i] * q_[i];
      });
      double const alpha = rho / d, before = rho;
      rho = sum_over_rows(m_.n, [&](std::size_t i) {
        z[i] += alpha * p_[i];
        r_[i] -= alpha * q_[i];
        return r_[i] * r_[i];
      });
      double const beta = rho / before;
#pragma omp parallel for schedule(static)
      for (int i = 0; i < m_.n; ++i) {
        auto const at = static_cast<std::size_t>(i);
        p_[at] = r_[at] + beta * p_[at];
      }
    }
    return std::sqrt(sum_over_rows(m_.n, [&](std::size_t i) {
      double const missing = x[i] - row_times(m_, z, i);
      return missing * missing;
    }));
  }

 private:
  Matrix const& m_;
  Vector p_, q_, r_;
};

}  // namespace

std::span<Class const> classes() noexcept { return all; }

Class const* find_class(std::string_view name) noexcept {
  if (name.size() != 1) return nullptr;
  for (Class const& c : all)
    if (c.name == std::toupper(static_cast<unsigned char>(name[0]))) return &c;
  return nullptr;
}

Result run(Class const& size) {
  Matrix const matrix = make_matrix(size);
  Solver solver(matrix);
  Vector x(static_cast<std::size_t>(size.n), 1.0), z(x.size());
  Result r;
  for (int iteration = 0; iteration < size.iterations; ++iteration) {
    r.residual = solver.solve(x, z);
    double const xz = sum_over_rows(size.n, [&](std::size_t i) { return x[i] * z[i]; });
    double const zz = sum_over_rows(size.n, [&](std::size_t i) { return z[i] * z[i]; });
    r.zeta = size.shift + 1 / xz;
    double const scale = 1 / std::sqrt(zz);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale * z[i];
  }
  r.verified = std::abs(r.zeta - size.zeta) <= 1e-10 * size.zeta;
  return r;
}

}  // namespace cg
