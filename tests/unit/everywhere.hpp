// SPDX-License-Identifier: Apache-2.0
#pragma once
// A test's body, called by each kind of thread that tasks have.

#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>

#include "synthetic.hpp"

namespace nigh::tests {

inline topology const& four_by_two() {
  static auto const m = synthetic("pack:4 numa:1 core:2 pu:1");
  return m;
}

// On a worker, in a thread outside, and on the default runtime.
template <class Body>
void everywhere(Body body) {
  runtime rt({.machine = &four_by_two()});
  rt.run(body);
  rt.invoke(body);
  body();
}

// The same, and on a runtime with such options, of which the machine is set here.
template <class Body>
void everywhere_and(runtime_options options, Body body) {
  everywhere(body);
  options.machine = &four_by_two();
  runtime(options).run(body);
}

}  // namespace nigh::tests
