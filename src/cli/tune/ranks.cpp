// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "base/counted.hpp"
#include "policy/cpus/thread_count.hpp"
#include "policy/cpus/rank_cpus.hpp"

namespace nigh::cli {
namespace {

// Ranks are equal where they divide the domains, or domains divide them: both by divisors, and by
// powers of two, which many programs want. The most first.
std::vector<int> usual_ranks(topology const& machine) {
  int const cores = machine.cores(), domains = machine.cpu_domains();
  int const in_domain = std::max(1, cores / domains);
  std::vector<int> ranks{cores};
  for (int n = 1; n <= domains; ++n)
    if (domains % n == 0) ranks.push_back(n);
  for (int n = 1; n <= in_domain; ++n)
    if (in_domain % n == 0) ranks.push_back(domains * n);
  for (int n = 1; n <= in_domain; n *= 2) ranks.push_back(domains * n);
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Of each domain: none, one for other work of the host, a quarter, or a half, which is best for
// programs bound by memory.
std::vector<int> usual_cores_off(topology const& machine) {
  int const in_domain = std::max(1, machine.cores() / machine.cpu_domains());
  std::vector<int> off;
  for (int const n : {0, 1, in_domain / 4, in_domain / 2})
    if (n < in_domain && std::find(off.begin(), off.end(), n) == off.end()) off.push_back(n);
  return off;
}

// Values of an option that is tried only on request.
template <class T>
std::vector<std::optional<T>> asked_or_none(std::vector<T> const& asked) {
  if (asked.empty()) return {std::nullopt};
  return {asked.begin(), asked.end()};
}

std::string are_allowed(int n, std::string const& what) {
  return base::counted(n, what) + (n == 1 ? " is allowed" : " are allowed");
}

// Ranks in their places, and the index of each value.
struct Setting {
  Ranks ranks;
  int threads = 0;
  int r = 0, share = 0;
};

class Settings {
 public:
  Settings(topology const& machine, Choices const& choices, std::optional<double> quota)
      : machine_(machine),
        most_(policy::cpus_within(quota, static_cast<int>(machine.cpus().size()))),
        are_ranks_usual_(choices.ranks.empty()),
        ranks_(choices.ranks.empty() ? usual_ranks(machine) : choices.ranks),
        are_threads_(!choices.threads.empty()),
        shares_(are_threads_ ? choices.threads : usual_cores_off(machine)),
        siblings_((cpus() + machine.cores() - 1) / machine.cores()) {
    if (!choices.rank_orders.empty()) orders_ = choices.rank_orders;
  }

  // Configurations with the same cpus are the same.
  std::vector<Setting> all() {
    std::vector<Setting> found;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      for (std::size_t s = 0; s < shares_.size(); ++s)
        for (bool const smt : {false, true})
          for (auto const order : orders_)
            if (auto const setting = of(r, s, smt, order)) found.push_back(*setting);
    return found;
  }

  // A requested value that can be tried nowhere; empty: none.
  std::string misfit(std::vector<Setting> const& found) const {
    for (int const n : ranks_)
      if (n > machine_.cores())
        return "--ranks " + std::to_string(n) + ": only " + are_allowed(machine_.cores(), "core") +
               ", and each rank takes one or more";
    for (std::size_t s = 0; s < shares_.size() && are_threads_; ++s)
      if (std::none_of(found.begin(), found.end(),
                       [&](Setting const& f) { return f.threads == shares_[s]; }))
        return "--threads " + std::to_string(shares_[s]) + ": " + are_allowed(cpus(), "cpu") +
               ", too few for so many threads in each of " + base::counted(ranks_.back(), "rank");
    return {};
  }

 private:
  int cpus() const { return static_cast<int>(machine_.cpus().size()); }

  std::optional<Setting> of(std::size_t r, std::size_t s, bool smt, cpu_order order) {
    if (smt && siblings_ == 1) return {};
    int const ranks = ranks_[r], cores = machine_.cores();
    int threads = are_threads_ ? shares_[s]
                               : (cores - shares_[s] * machine_.cpu_domains()) / ranks *
                                     (smt ? siblings_ : 1);
    if (!are_threads_) threads = std::min(threads, std::max(1, most_ / ranks));
    if (threads < 1 || (are_ranks_usual_ && ranks > most_)) return {};
    auto placed = policy::rank_cpus(machine_, {ranks, order, threads, smt});
    if (placed.empty() || std::find(seen_.begin(), seen_.end(), placed) != seen_.end()) return {};
    seen_.push_back(std::move(placed));
    int const used = smt ? (threads + siblings_ - 1) / siblings_ : threads;
    return Setting{{ranks, order, smt, cores - ranks * used},
                   threads,
                   static_cast<int>(r),
                   static_cast<int>(s)};
  }

  topology const& machine_;
  int most_;  // threads on this host that the quota has time for
  bool are_ranks_usual_;
  std::vector<int> ranks_;
  bool are_threads_;  // otherwise the shares are cores that each domain leaves off
  std::vector<int> shares_;
  std::vector<cpu_order> orders_{cpu_order::compact, cpu_order::scatter};
  int siblings_;
  std::vector<std::vector<std::vector<int>>> seen_;  // [setting][rank][thread]: its cpu
};

}  // namespace

result<Space> space_of_ranks(topology const& machine, Choices const& choices,
                             Inherited const& inherited, std::optional<double> quota) {
  Settings settings(machine, choices, quota);
  auto const found = settings.all();
  if (auto const misfit = settings.misfit(found); !misfit.empty()) return error{misfit};

  Space space;
  auto const& first = found.front();
  int const room = std::max(1, policy::cpus_within(quota, machine.cores()) / first.ranks.per_host);
  space.requests.push_back({.threads = room});
  space.ranks.push_back({.per_host = first.ranks.per_host});
  space.candidates.push_back({first.r, 0, 0, 0, 0, 0});
  space.as_it_is = base::counted(first.ranks.per_host, "rank") +
                   (room > 1 ? " of " + base::counted(room, "thread") : "") +
                   ", where the launcher puts them";
  auto const memories = asked_or_none(choices.memories);
  auto const loops = asked_or_none(choices.schedules);
  for (auto const& s : found)
    for (std::size_t m = 0; m < memories.size(); ++m)
      for (std::size_t l = 0; l < loops.size(); ++l) {
        auto const plan = make_plan(machine, {0, {}, memories[m], loops[l]}, inherited);
        if (!plan) return plan.to_error();
        space.requests.push_back({s.threads, {}, memories[m], loops[l]});
        space.ranks.push_back(s.ranks);
        // 0 leaves it to the launcher.
        auto const index = [](auto const& values, std::size_t i) {
          return static_cast<int>(i) + (values[i] ? 1 : 0);
        };
        space.candidates.push_back({s.r, s.share, s.ranks.smt ? 1 : 0,
                                    *s.ranks.order == cpu_order::compact ? 1 : 2,
                                    index(memories, m), index(loops, l)});
      }
  return space;
}

std::vector<std::string> words_before_rank(Request const& request, Ranks const& ranks,
                                           std::string const& nigh) {
  auto const threads = std::to_string(request.threads);
  if (!ranks.order) return {"env", "OMP_NUM_THREADS=" + threads, "NIGH_WORKERS=" + threads};
  std::vector<std::string> words{nigh, "run", "--bind-ranks",
                                 *ranks.order == cpu_order::compact ? "compact" : "scatter"};
  words.insert(words.end(), {"--threads", threads});
  if (ranks.smt) words.emplace_back("--smt");
  if (request.memory) words.insert(words.end(), {"--mem", to_string(*request.memory)});
  if (request.schedule) words.insert(words.end(), {"--schedule", to_string(*request.schedule)});
  words.emplace_back("--");
  return words;
}

LauncherValues values_of(Request const& request, Ranks const& ranks, int hosts,
                         std::string const& nigh) {
  return {hosts * ranks.per_host, ranks.per_host, request.threads, !ranks.order,
          words_before_rank(request, ranks, nigh)};
}

}  // namespace nigh::cli
