// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "tasks/fib.hpp"
#include "tasks/nqueens.hpp"
#include "tasks/sort.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"
#include "tasks/uts.hpp"
#include "workloads/problem.hpp"
#include "workloads/size_text.hpp"
#include "workloads/team.hpp"

namespace workloads {

std::string name_of(Family family) {
  switch (family) {
    case Family::serial:
      return "serial";
    case Family::openmp:
#if defined(__clang__)
      return "openmp-clang";
#else
      return "openmp-gcc";
#endif
    case Family::tbb:
      return "tbb";
    case Family::nigh:
      return "nigh";
  }
  return "?";
}

std::string why_absent(Family family) {
  if (family == Family::openmp && !has_openmp) return "the compiler had no OpenMP";
  if (family == Family::tbb && !has_tbb) return "this was built without oneTBB";
  if (family == Family::nigh && !has_nigh) return "this program was built without it";
  return {};
}

namespace {

std::uint64_t nth(int n) {
  std::uint64_t a = 0, b = 1;
  for (; n > 0; --n) a = std::exchange(b, a + b);
  return a;
}

std::unique_ptr<Instance> make_fib(std::string const& size, int cutoff) {
  auto const n = static_cast<int>(number(size, 0, 60));
  using Fib =
      Counting<fib::Config, fib::solve_serial, fib::solve_openmp, fib::solve_tbb, fib::solve_nigh>;
  return std::make_unique<Fib>(fib::Config{n, cutoff}, nth(n), nth(n + 1) - 1);
}

}  // namespace

Problem fib_problem() {
  return {"fib", "a number to 60", {"0", "1", "17"}, {"30"}, {"35"}, make_fib};
}

namespace {

struct Known {
  Answer solutions;
  std::uint64_t nodes;  // of the search tree, the root included
};

// [n]. Solutions: OEIS A000170.
constexpr Known known[] = {
    {1, 1},
    {1, 2},
    {0, 3},
    {0, 6},
    {2, 17},
    {10, 54},
    {4, 153},
    {40, 552},
    {92, 2057},
    {352, 8394},
    {724, 35539},
    {2680, 166926},
    {14200, 856189},
    {73712, 4674890},
    {365596, 27358553},
    {2279184, 171129072},
};

std::unique_ptr<Instance> make_nqueens(std::string const& size, int cutoff) {
  auto const n = static_cast<int>(number(size, 1, 15));
  using Queens = Counting<nqueens::Config, nqueens::solve_serial, nqueens::solve_openmp,
                          nqueens::solve_tbb, nqueens::solve_nigh>;
  Known const& right = known[static_cast<std::size_t>(n)];
  return std::make_unique<Queens>(nqueens::Config{n, cutoff}, right.solutions, right.nodes - 1);
}

}  // namespace

Problem nqueens_problem() {
  return {"nqueens", "a number to 15", {"1", "2", "4", "8"}, {"12"}, {"13", "14"}, make_nqueens};
}

namespace {

std::string tree_names() {
  std::string text;
  for (auto const& tree : uts::known_trees())
    text += (text.empty() ? "" : ", ") + std::string(tree.name);
  return text;
}

std::unique_ptr<Instance> make_uts(std::string const& size, int cutoff) {
  uts::KnownTree const* const tree = uts::find_tree(size);
  if (tree == nullptr)
    throw std::invalid_argument("\"" + size + "\" is no tree: there are " + tree_names());
  using Uts =
      Counting<uts::Config, uts::solve_serial, uts::solve_openmp, uts::solve_tbb, uts::solve_nigh>;
  return std::make_unique<Uts>(uts::Config{tree->tree, cutoff}, tree->nodes, tree->nodes - 1);
}

}  // namespace

Problem uts_problem() {
  return {
      "uts",        "the name of a tree, such as T1", {"T1-tiny", "T2-tiny", "T5-tiny", "T3-tiny"},
      {"T1", "T3"}, {"T2", "T1L", "T2L", "T3L"},      make_uts};
}

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
std::unique_ptr<Instance> make_sparselu(std::string const& size, int) {
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
          make_sparselu};
}

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
std::unique_ptr<Instance> make_strassen(std::string const& size, int) {
  long const rows = number(size, 1, 8192);
  if ((rows & (rows - 1)) != 0)
    throw std::invalid_argument("\"" + size + "\" is not a power of two");
  return std::make_unique<Strassen>(rows);
}

}  // namespace

Problem strassen_problem() {
  return {"strassen", "rows, a power of two", {"1", "64", "128", "256"}, {"1024"},
          {"2048"},   make_strassen};
}

namespace {

class Sort : public Instance {
 public:
  explicit Sort(std::size_t count) : input_(count), numbers_(count) {
    std::uint64_t state = 1;
    for (std::uint32_t& n : input_) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      n = static_cast<std::uint32_t>(state >> 33);
    }
  }

  void prepare() override { numbers_ = input_; }

  // The sum of the numbers' hashes tells whether they are the same ones; 0 when they are in
  // disorder.
  Answer answer() const override {
    return std::is_sorted(numbers_.begin(), numbers_.end()) ? hashes(numbers_) : 0;
  }
  Answer expected() override { return hashes(input_); }
  std::uint64_t spawns() const override { return 0; }

 protected:
  static Answer hashes(std::vector<std::uint32_t> const& numbers) {
    Answer sum = 1;
    for (std::uint64_t const n : numbers) sum += (n + 1) * (n ^ 0x9e3779b97f4a7c15U);
    return sum;
  }

  std::vector<std::uint32_t> input_, numbers_;
};

class Mergesort : public Sort {
 public:
  explicit Mergesort(std::size_t count) : Sort(count), space_(count) {}
  void solve(Family family) override {
    call<sort::mergesort_serial, sort::mergesort_openmp, sort::mergesort_tbb, sort::mergesort_nigh>(
        family, numbers_, space_);
  }

 private:
  std::vector<std::uint32_t> space_;
};

class Quicksort : public Sort {
 public:
  using Sort::Sort;
  void solve(Family family) override {
    call<sort::quicksort_serial, sort::quicksort_openmp, sort::quicksort_tbb, sort::quicksort_nigh>(
        family, numbers_);
  }
};

// Pieces end in std::sort at a fixed size, so there is no depth to cut off at.
template <class S>
std::unique_ptr<Instance> make_sort(std::string const& size, int) {
  return std::make_unique<S>(static_cast<std::size_t>(number(size, 0, 1'000'000'000)));
}

template <class S>
Problem describe(char const* name) {
  return {name,        "how many numbers", {"0", "1", "2049", "50000"},
          {"2000000"}, {"20000000"},       make_sort<S>};
}

}  // namespace

Problem mergesort_problem() { return describe<Mergesort>("mergesort"); }
Problem quicksort_problem() { return describe<Quicksort>("quicksort"); }

std::span<Problem const> problems() {
  static Problem const list[] = {fib_problem(),      nqueens_problem(),  uts_problem(),
                                 sparselu_problem(), strassen_problem(), mergesort_problem(),
                                 quicksort_problem()};
  return list;
}

Problem const* find_problem(std::string_view name) {
  for (Problem const& p : problems())
    if (p.name == name) return &p;
  return nullptr;
}

namespace {

class OneThread : public Team {
 public:
  explicit OneThread(TeamOptions options) : options_(std::move(options)) {}

  void run(std::function<void()> const& body) override {
    options_.pin_thread(0);
    body();
  }

 private:
  TeamOptions options_;
};

std::unique_ptr<Team> make_serial_team(TeamOptions const& options) {
  return std::make_unique<OneThread>(options);
}

}  // namespace

std::unique_ptr<Team> make_team(Family family, TeamOptions const& options) {
  return call<make_serial_team, make_openmp_team, make_tbb_team, make_nigh_team>(family, options);
}

}  // namespace workloads
