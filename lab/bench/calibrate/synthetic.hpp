// SPDX-License-Identifier: Apache-2.0
#pragma once
// A topology in hwloc's synthetic notation.

#include <nigh/topology.hpp>
#include <string>

namespace bench {

// Of what this process may use. Empty where the notation cannot say it: objects of one kind hold
// different numbers of others.
std::string synthetic_of(nigh::topology const& machine);

}  // namespace bench
