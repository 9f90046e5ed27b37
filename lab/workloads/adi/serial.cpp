// SPDX-License-Identifier: Apache-2.0
// ADI as its formula reads, on one thread and one array. The solver of many threads and processes
// must end with the same bits.
#include <cstddef>

#include "adi/problem.hpp"

namespace adi {

namespace {

// Points x + n y.
class Field {
 public:
  explicit Field(int n) : n_(static_cast<std::size_t>(n)), u_(n_ * n_), line_(n_), changed_(n_) {}

  double& at(int x, int y) noexcept {
    return u_[static_cast<std::size_t>(x) + n_ * static_cast<std::size_t>(y)];
  }
  void apply(LineOperator const& op, bool along_x) {
    for_each_line(along_x, [&] {
      op.apply(line_.data(), changed_.data());
      line_.swap(changed_);
    });
  }
  void solve(LineOperator const& op, bool along_x) {
    for_each_line(along_x, [&] { op.solve(line_.data()); });
  }

 private:
  template <class Change>
  void for_each_line(bool along_x, Change change) {
    for (std::size_t l = 0; l < n_; ++l) {
      auto const point = [&](std::size_t i) -> double& {
        return along_x ? u_[i + n_ * l] : u_[l + n_ * i];
      };
      for (std::size_t i = 0; i < n_; ++i) line_[i] = point(i);
      change();
      for (std::size_t i = 0; i < n_; ++i) point(i) = line_[i];
    }
  }

  std::size_t n_;
  std::vector<double> u_, line_, changed_;
};

}  // namespace

Result solve_serially(Problem const& p) {
  Field u(p.n);
  for (int y = 0; y < p.n; ++y)
    for (int x = 0; x < p.n; ++x) u.at(x, y) = p.start(x, y);
  LineOperator const op(p.n, p.r());
  for (int step = 0; step < p.steps; ++step)
    for (bool const implicit_along_x : {true, false}) {
      u.apply(op, !implicit_along_x);
      u.solve(op, implicit_along_x);
    }
  Result r;
  for (int y = 0; y < p.n; ++y)
    for (int x = 0; x < p.n; ++x) r.add_point(p, x, y, u.at(x, y));
  return r;
}

}  // namespace adi
