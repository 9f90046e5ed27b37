// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "sparselu/config.hpp"
#include "workloads/families.hpp"
#include "workloads/size_text.hpp"

namespace workloads {

namespace {

// Tasks, by going through the steps with the pattern of blocks alone.
std::uint64_t count_tasks(int blocks) {
  auto const n = static_cast<std::size_t>(blocks);
  std::vector<char> there(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      there[i * n + j] = sparselu::present_at_start(static_cast<int>(i), static_cast<int>(j));
  std::uint64_t tasks = 0;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      tasks += (there[k * n + i] != 0 ? 1U : 0U) + (there[i * n + k] != 0 ? 1U : 0U);
      for (std::size_t j = k + 1; there[i * n + k] != 0 && j < n; ++j)
        if (there[k * n + j] != 0) {
          there[i * n + j] = 1;
          ++tasks;
        }
    }
  return tasks;
}

class SparseLU : public Instance {
 public:
  SparseLU(int blocks, int side) : matrix_(blocks, side), tasks_(count_tasks(blocks)) {}

  void prepare() override { matrix_.refill(); }

  void solve(Family family) override {
    call<sparselu::solve_serial, sparselu::solve_openmp, sparselu::solve_tbb, sparselu::solve_nigh>(
        family, matrix_);
  }

  Answer answer() const override { return matrix_.checksum(); }

  Answer expected() override {
    if (!expected_) {
      sparselu::Matrix reference(matrix_.blocks(), matrix_.side());
      sparselu::solve_serial(reference);
      expected_ = reference.checksum();
    }
    return *expected_;
  }

  std::uint64_t spawns() const override { return tasks_; }

 private:
  sparselu::Matrix matrix_;
  std::uint64_t tasks_;
  std::optional<Answer> expected_;
};

// Every phase is a loop, so there is no depth to cut off at.
std::unique_ptr<Instance> make(std::string const& size, int) {
  auto const x = size.find('x');
  if (x == std::string::npos)
    throw std::invalid_argument("\"" + size + "\" is not blocks x floats, such as 50x100");
  auto const blocks = static_cast<int>(number(size.substr(0, x), 1, 1024));
  auto const side = static_cast<int>(number(size.substr(x + 1), 1, 1024));
  return std::make_unique<SparseLU>(blocks, side);
}

}  // namespace

Problem sparselu_problem() {
  return {"sparselu",
          "blocks a side x floats a side of a block, such as 50x100",
          {"1x4", "2x3", "9x5", "25x7"},
          {"50x32"},
          {"25x100", "50x100"},
          make};
}

}  // namespace workloads
