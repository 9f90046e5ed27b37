// SPDX-License-Identifier: Apache-2.0
#include <nigh/runtime.hpp>

#include "workloads/team.hpp"

namespace workloads {

namespace {

class Workers : public Team {
 public:
  explicit Workers(TeamOptions const& options) : runtime_(runtime_options(options)) {}

  void run(std::function<void()> const& body) override { runtime_.run(body); }

 private:
  static nigh::runtime_options runtime_options(TeamOptions const& options) {
    nigh::runtime_options o;
    o.machine = options.machine;
    o.workers = options.threads();
    return o;
  }

  nigh::runtime runtime_;
};

}  // namespace

std::unique_ptr<Team> make_nigh_team(TeamOptions const& options) {
  return std::make_unique<Workers>(options);
}

}  // namespace workloads
