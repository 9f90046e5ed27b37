// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "sort/config.hpp"
#include "workloads/families.hpp"
#include "workloads/size_text.hpp"

namespace workloads {

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
std::unique_ptr<Instance> make(std::string const& size, int) {
  return std::make_unique<S>(static_cast<std::size_t>(number(size, 0, 1'000'000'000)));
}

template <class S>
Problem describe(char const* name) {
  return {name,        "how many numbers", {"0", "1", "2049", "50000"},
          {"2000000"}, {"20000000"},       make<S>};
}

}  // namespace

Problem mergesort_problem() { return describe<Mergesort>("mergesort"); }
Problem quicksort_problem() { return describe<Quicksort>("quicksort"); }

}  // namespace workloads
