// SPDX-License-Identifier: Apache-2.0
#include "cg/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "cg/cg.hpp"
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

}  // namespace cg
