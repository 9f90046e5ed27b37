// SPDX-License-Identifier: Apache-2.0
#pragma once
// nigh's workers, as the variants that run on them need them.

#include <cstddef>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>

#include "npb_mg/variant.hpp"

namespace npb_mg {

class NighRuntime {
 public:
  NighRuntime(Team const& team, nigh::schedule how)
      : runtime_(options(team)), how_(std::move(how)) {}

  template <class Body>
  void run(Body const& body) {
    runtime_.run(body);
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    nigh::parallel_for(first, last, body, how_);
  }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    o.cpus = team.cpus;
    return o;
  }

  nigh::runtime runtime_;
  nigh::schedule how_;
};

}  // namespace npb_mg
