// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include "workloads/team.hpp"

namespace workloads {

namespace {

class OpenMP : public Team {
 public:
  explicit OpenMP(TeamOptions options) : options_(std::move(options)) {}

  // libgomp ends threads that a smaller region has no use for, so they are pinned in each region.
  void run(std::function<void()> const& body) override {
#pragma omp parallel num_threads(options_.threads())
    {
      options_.pin_thread(omp_get_thread_num());
#pragma omp single
      body();
    }
  }

 private:
  TeamOptions options_;
};

}  // namespace

std::unique_ptr<Team> make_openmp_team(TeamOptions const& options) {
  return std::make_unique<OpenMP>(options);
}

}  // namespace workloads
