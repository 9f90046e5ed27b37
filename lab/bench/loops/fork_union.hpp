// SPDX-License-Identifier: Apache-2.0
#pragma once
// ForkUnion, where its header was found when this was built (NIGH_FORK_UNION, the folder it lies
// in).

#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

#if defined(NIGH_WITH_FORK_UNION)
inline std::string why_no_fork_union() { return {}; }
std::vector<double> time_fork_union_rendezvous(std::vector<int> const& cpus, double pause_us,
                                               int count);
#else
inline std::string why_no_fork_union() { return "its header was not found when this was built"; }
inline std::vector<double> time_fork_union_rendezvous(std::vector<int> const&, double, int) {
  throw std::runtime_error(why_no_fork_union());
}
#endif

}  // namespace bench
