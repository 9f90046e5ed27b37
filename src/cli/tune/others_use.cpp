// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/others_use.hpp"
#include "base/counted.hpp"

#include <fmt/format.h>

namespace nigh::cli {

std::string busy_text(std::optional<double> others_cpus, int cpus) {
  if (!others_cpus || !is_busy(*others_cpus, cpus)) return {};
  return fmt::format("others kept {:.1f} of {} busy meanwhile", *others_cpus,
                     base::counted(cpus, "cpu"));
}

}  // namespace nigh::cli
