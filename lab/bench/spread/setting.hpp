// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options that `nigh bench spread` and the program jacobi2d share. Functions that parse throw
// UsageError naming the argument.

#include <string>

#include "jacobi2d/variant.hpp"

namespace bench {

// "default", "1", "16", "512", any number of rows, or "collapse".
jacobi2d::RowSchedule rows_from(std::string const& argument, std::string const& word);
std::string to_string(jacobi2d::RowSchedule const& rows);

jacobi2d::VariantInfo const& jacobi2d_variant_from(std::string const& argument,
                                                   std::string const& word);
jacobi2d::Kernel const& jacobi2d_kernel_from(std::string const& argument, std::string const& word);

// Points of a block's side so that the whole square has about this share of the machine's memory.
int points_of_share(std::string const& argument, double share, nigh::topology const& machine,
                    int blocks);

}  // namespace bench
