// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where do the threads of one rank of an MPI program go, for `nigh run --bind-ranks`?

#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <string_view>

#include "cli/run/request.hpp"
#include "policy/cpus/rank_cpus.hpp"

namespace nigh::cli {

result<int> parse_ranks(std::string_view text);
result<cpu_order> parse_rank_order(std::string_view text);  // compact, scatter

// For rank `rank` of as many as `how` says there are on this host. The error names the option and
// why it does not fit here.
result<Binding> binding_of_rank(topology const& machine, policy::RankPlacing const& how, int rank);

}  // namespace nigh::cli
