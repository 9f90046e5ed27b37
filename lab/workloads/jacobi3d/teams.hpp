// SPDX-License-Identifier: Apache-2.0
#pragma once
// Teams of nigh's workers on layers of blocks: so many workers, or as many as each sweep finds
// best.

#include <nigh/runtime.hpp>
#include <variant>

#include "jacobi3d/variant.hpp"
#include "spreads.hpp"

namespace jacobi3d {

class OnTeams : public Variant {
 public:
  OnTeams(Team const& team, nigh::spread spread, int active);
  void sweep(Sweep const& sweep) override;

  using Spreads = workloads::Spreads<std::monostate>;  // there is one loop
  Spreads const& spreads() const noexcept { return spreads_; }

 private:
  nigh::runtime runtime_;
  Spreads spreads_;
};

}  // namespace jacobi3d
