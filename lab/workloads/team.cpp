// SPDX-License-Identifier: Apache-2.0
#include "workloads/team.hpp"

#include "workloads/families.hpp"

namespace workloads {

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
