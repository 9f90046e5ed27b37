// SPDX-License-Identifier: Apache-2.0
#include "cli/run/rank_binding.hpp"

#include <cstddef>
#include <string>

#include "base/counted.hpp"
#include "base/cpu_list.hpp"
#include "base/nearest_name.hpp"

namespace nigh::cli {
result<int> parse_ranks(std::string_view text) {
  auto const ranks = parse_threads(text);
  if (!ranks) return error{"'" + std::string(text) + "' is no positive number of ranks"};
  return ranks;
}

result<cpu_order> parse_rank_order(std::string_view text) {
  if (text == "compact") return cpu_order::compact;
  if (text == "scatter") return cpu_order::scatter;
  return error{"'" + std::string(text) + "' is neither compact nor scatter" +
               base::did_you_mean(text, {"compact", "scatter"})};
}

result<Binding> binding_of_rank(topology const& machine, policy::RankPlacing const& how, int rank) {
  auto const ranks = policy::rank_cpus(machine, how);
  bool const has_siblings = machine.cores() < static_cast<int>(machine.cpus().size());
  auto const allowed = base::counted(machine.cores(), "core") + (machine.cores() == 1 ? " is" : " are") +
                       " allowed (cpus " + base::cpu_list(machine.cpus()) + ')';
  if (how.ranks > machine.cores())
    return error{"--bind-ranks: " + base::counted(how.ranks, "rank") + " here, and only " + allowed +
                 "; if the launcher has bound them, mpirun --bind-to none does not"};
  if (ranks.empty())
    return error{"--threads " + std::to_string(how.threads) + ": " + allowed + ", for " +
                 base::counted(how.ranks, "rank") + " with so many threads each" +
                 (how.smt || !has_siblings ? "" : "; --smt has threads share cores")};
  Binding binding;
  for (int const cpu : ranks[static_cast<std::size_t>(rank)]) binding.places.push_back({cpu});
  return binding;
}

}  // namespace nigh::cli
