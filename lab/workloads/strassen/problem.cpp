// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <optional>

#include "strassen/config.hpp"
#include "workloads/families.hpp"
#include "workloads/size_text.hpp"

namespace workloads {

namespace {

using strassen::Square;

class Strassen : public Instance {
 public:
  explicit Strassen(long rows) : rows_(rows), a_(area()), b_(area()), c_(area()) {
    std::uint32_t state = 1;
    auto const fill = [&](std::vector<double>& matrix) {
      for (double& x : matrix) {
        state = state * 1664525 + 1013904223;
        x = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
      }
    };
    fill(a_);
    fill(b_);
  }

  void solve(Family family) override {
    call<strassen::solve_serial, strassen::solve_openmp, strassen::solve_tbb, strassen::solve_nigh>(
        family, view(c_), view(a_), view(b_));
  }

  Answer answer() const override { return checksum(c_); }

  Answer expected() override {
    if (!expected_) {
      std::vector<double> product(area());
      strassen::solve_serial(view(product), view(a_), view(b_));
      expected_ = checksum(product);
    }
    return *expected_;
  }

  std::uint64_t spawns() const override {
    std::uint64_t tasks = 0, products = 1;
    for (long n = rows_; n > strassen::leaf_rows; n /= 2) tasks += products *= 7;
    return tasks;
  }

 private:
  std::size_t area() const { return static_cast<std::size_t>(rows_ * rows_); }
  Square view(std::vector<double>& m) const { return {m.data(), rows_, rows_}; }
  static Answer checksum(std::vector<double> const& matrix) {
    Answer sum = 14695981039346656037U;
    for (double const x : matrix) sum = (sum ^ std::bit_cast<std::uint64_t>(x)) * 1099511628211U;
    return sum;
  }

  long rows_;
  std::vector<double> a_, b_, c_;
  std::optional<Answer> expected_;
};

// The leaves' size is the cutoff, so there is no depth to cut off at.
std::unique_ptr<Instance> make(std::string const& size, int) {
  long const rows = number(size, 1, 8192);
  if ((rows & (rows - 1)) != 0)
    throw std::invalid_argument("\"" + size + "\" is not a power of two");
  return std::make_unique<Strassen>(rows);
}

}  // namespace

Problem strassen_problem() {
  return {"strassen", "rows, a power of two", {"1", "64", "128", "256"}, {"1024"}, {"2048"}, make};
}

}  // namespace workloads
