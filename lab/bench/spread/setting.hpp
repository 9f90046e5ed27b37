// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options that `nigh bench spread` and the program jacobi2d share. Functions that parse throw
// UsageError naming the argument.

#include <string>

#include "bench/options.hpp"
#include "jacobi2d/variant.hpp"
#include "workloads/size_text.hpp"

namespace bench {

// "default", "1", "16", "512", any number of rows, or "collapse".
inline jacobi2d::RowSchedule rows_from(std::string const& argument, std::string const& word) {
  if (word == "default") return {};
  if (word == "collapse") return {.chunk = 0, .collapse = true};
  try {
    return {.chunk = static_cast<int>(workloads::number(word, 1, 1'000'000))};
  } catch (std::invalid_argument const&) {
    refuse(argument, word, "is not default, collapse or a number of rows from 1 to 1000000");
  }
}

inline std::string to_string(jacobi2d::RowSchedule const& rows) {
  if (rows.collapse) return "collapse";
  return rows.chunk == 0 ? "default" : std::to_string(rows.chunk);
}

inline jacobi2d::VariantInfo const& jacobi2d_variant_from(std::string const& argument,
                                                          std::string const& word) {
  return present_variant(argument, word, jacobi2d::find_variant(word));
}

inline jacobi2d::Kernel const& jacobi2d_kernel_from(std::string const& argument,
                                                    std::string const& word) {
  return present_kernel(argument, word, jacobi2d::find_kernel(word));
}

// Points of a block's side so that the whole square has about this share of the machine's memory.
inline int points_of_share(std::string const& argument, double share, nigh::topology const& machine,
                           int blocks) {
  if (!(share > 0 && share <= 0.9))
    throw UsageError(argument + ": a share of memory is above 0 and at most 0.9");
  std::size_t memory = 0;
  for (nigh::domain const& d : machine.domains()) memory += d.memory_bytes;
  return jacobi2d::points_for(share, memory, blocks);
}

}  // namespace bench
