// SPDX-License-Identifier: Apache-2.0
#pragma once
// nigh's workers, as the variants that run on them need them.

#include <cstddef>
#include <nigh/parallel_for.hpp>
#include <optional>

#include "nigh_options.hpp"
#include "npb_mg/variant.hpp"

namespace npb_mg {

class NighRuntime {
 public:
  // Without a schedule: the one that the environment names.
  NighRuntime(Team const& team, std::optional<nigh::schedule> how)
      : runtime_(workloads::nigh_options(team)) {
    loop_.how = std::move(how);
  }

  template <class Body>
  void run(Body const& body) {
    runtime_.run(body);
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    nigh::parallel_for(first, last, body, loop_);
  }

 private:
  nigh::runtime runtime_;
  nigh::loop_options loop_;
};

}  // namespace npb_mg
