// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a machine's file about taking work from afar.

#include "sim/machine_fields.hpp"

namespace nigh::sim {

// The machine's shape and hosts are read already.
void read_levels(Fields& fields, Machine& machine);

}  // namespace nigh::sim
