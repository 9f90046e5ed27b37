// SPDX-License-Identifier: Apache-2.0
#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/assert.hpp"
#include "tune/effects.hpp"

namespace nigh::tune {
namespace {

// Runs of a candidate in all by the end of each rung; finalists that have theirs and are still
// level run once more per rung.
int runs_by_rung(int rung, int repetitions) {
  constexpr int steps[] = {1, 2, 4};
  constexpr int count = sizeof steps / sizeof *steps;
  return rung < count ? std::min(steps[rung], repetitions) : repetitions + rung - count;
}

// Of the first candidate and of the leader: two may both have been lucky.
std::size_t confirming_runs(int repetitions) {
  return static_cast<std::size_t>(std::min(3, repetitions));
}

int values_apart(Candidate const& a, Candidate const& b) {
  int apart = 0;
  for (std::size_t o = 0; o < a.size(); ++o) apart += a[o] != b[o];
  return apart;
}

}  // namespace

Search::Search(std::vector<Candidate> candidates, SearchOptions options)
    : candidates_(std::move(candidates)),
      measured_(candidates_.size()),
      options_(options),
      random_(options.seed) {
  NIGH_ASSERT(!candidates_.empty(), "there is something to choose among");
  if (!options_.exhaustive) return;
  surveying_ = false;
  std::vector<int> all(candidates_.size());
  std::iota(all.begin(), all.end(), 0);
  queue(all, options_.repetitions);
  // The first candidate stays first, whatever the shuffling says.
  std::iter_swap(std::find(to_run_.rbegin(), to_run_.rend(), 0), to_run_.rbegin());
}

std::optional<int> Search::best() const {
  std::optional<int> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    if (!measured_[i].known() || measured_[i].lost) continue;
    auto const cost = undisturbed(measured_[i].costs);
    if (cost < least) least = cost, best = static_cast<int>(i);
  }
  return best;
}

std::optional<int> Search::next_of_survey() const {
  if (!tried(0)) return 0;
  auto const leader = best();
  Effects const effects(candidates_, measured_);
  auto const promise = [&](std::size_t i) { return effects.log_cost(candidates_[i]); };
  auto const& beside = candidates_[static_cast<std::size_t>(leader.value_or(0))];

  // A value not tried yet: beside the leader's other values, or as near to that as possible.
  for (std::size_t o = 0; o < beside.size(); ++o) {
    std::optional<std::size_t> found;
    std::size_t most_alike = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      auto const value = candidates_[i][o];
      bool seen = tried(i);
      for (std::size_t j = 0; j < candidates_.size() && !seen; ++j)
        seen = tried(j) && candidates_[j][o] == value;
      if (seen) continue;
      std::size_t alike = 1;
      for (std::size_t p = 0; p < beside.size(); ++p)
        if (candidates_[i][p] == beside[p]) ++alike;
      if (alike > most_alike) most_alike = alike, found = i;
    }
    if (found) return static_cast<int>(*found);
  }

  auto const most_promising = [&](auto const& counts) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (!tried(i) && counts(i) && (!found || promise(i) < promise(*found))) found = i;
    return found;
  };
  auto const any = most_promising([](std::size_t) { return true; });
  if (!any) return {};
  if (leader) {
    auto const least = std::log(undisturbed(measured_[static_cast<std::size_t>(*leader)].costs));
    if (promise(*any) - 4 * effects.doubt() > least) {
      // The effect of a value that was only seen beside others may be another one beside the
      // leader's.
      auto const near =
          most_promising([&](std::size_t i) { return values_apart(candidates_[i], beside) == 1; });
      if (!near) return {};
      return static_cast<int>(*near);
    }
  }
  return static_cast<int>(*any);
}

int Search::most_runs() const {
  constexpr std::size_t few = 6;  // with so few there is little to save
  auto const n = candidates_.size();
  auto const all = n * static_cast<std::size_t>(options_.repetitions);
  return static_cast<int>(n < few || options_.exhaustive ? all : std::max(all / 3, n + n / 3));
}

// Whether it no longer matters which of those in the race wins.
bool Search::are_level() const {
  constexpr double little = 1.01;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (auto const c : in_race_) {
    auto const cost = undisturbed(measured_[static_cast<std::size_t>(c)].costs);
    least = std::min(least, cost), most = std::max(most, cost);
  }
  return most <= little * least;
}

// Picks the candidates of the next rung, and lets them run; none when the search is decided.
void Search::climb() {
  auto const table = standings();
  std::vector<int> up;
  double least_high = std::numeric_limits<double>::infinity();
  for (auto const& s : table) least_high = std::min(least_high, s.high);
  std::size_t const before = in_race_.empty() ? table.size() : in_race_.size();
  // A candidate that ran once may have been unlucky, so half of the remaining runs may be second
  // runs.
  auto const second_runs =
      rung_ == 0 ? static_cast<std::size_t>(std::max(0, most_runs() - runs_)) / 2 : 0;
  std::size_t const room = std::max({std::size_t{3}, before / 2, second_runs});
  for (auto const& s : table)
    if (s.low <= least_high && up.size() < room) up.push_back(s.candidate);
  in_race_ = std::move(up);
  bool const all_done = runs_by_rung(rung_, options_.repetitions) >= options_.repetitions;
  if (all_done && are_level()) in_race_.clear();
  ++rung_;
  if (in_race_.size() < 2) return;
  queue(in_race_, runs_by_rung(rung_, options_.repetitions));
}

// Until each has run so often: rounds of all, each round in another order.
void Search::queue(std::vector<int> const& candidates, int repetitions) {
  auto const wanted = static_cast<std::size_t>(repetitions);
  for (std::size_t round = 0; round < wanted; ++round) {
    std::vector<int> runs;
    for (int const c : candidates)
      if (measured_[static_cast<std::size_t>(c)].costs.size() + round < wanted) runs.push_back(c);
    std::shuffle(runs.begin(), runs.end(), random_);
    to_run_.insert(to_run_.end(), runs.begin(), runs.end());
  }
}

std::optional<int> Search::next() {
  if (surveying_) {
    if (auto const candidate = next_of_survey()) return candidate;
    surveying_ = false;
    climb();
  }
  while (runs_ < most_runs() - runs_to_confirm()) {
    while (!to_run_.empty() && measured_[static_cast<std::size_t>(to_run_.back())].failed)
      to_run_.pop_back();
    if (!to_run_.empty()) return to_run_.back();
    if (in_race_.size() < 2) break;
    climb();
  }
  if (int const candidate = unconfirmed(); candidate >= 0 && runs_ < most_runs()) return candidate;
  return {};
}

// The first candidate or the leader, when it has run once only; -1: neither.
int Search::unconfirmed() const {
  if (options_.repetitions < 2 || options_.exhaustive) return -1;
  auto const are_known = std::count_if(measured_.begin(), measured_.end(),
                                       [](Measured const& m) { return m.known(); });
  auto const leader = best();
  if (!leader || are_known < 2) return -1;  // nothing to compare
  for (int const candidate : {0, *leader}) {
    auto const& m = measured_[static_cast<std::size_t>(candidate)];
    if (m.known() && !m.lost && m.costs.size() < confirming_runs(options_.repetitions))
      return candidate;
  }
  return -1;
}

// Runs that the race must leave for that. The leader of a race ran in it more than once.
int Search::runs_to_confirm() const {
  auto const& first = measured_.front();
  bool const is_wanted = options_.repetitions > 1 && !options_.exhaustive;
  auto const wanted = confirming_runs(options_.repetitions);
  if (!is_wanted || !first.known() || first.costs.size() >= wanted) return 0;
  return static_cast<int>(wanted - first.costs.size());
}

void Search::tell(int candidate, double cost) {
  measured_[static_cast<std::size_t>(candidate)].lost = false;
  add(candidate, cost);
}

void Search::tell_lost(int candidate, double cost_so_far) {
  NIGH_ASSERT(candidate != 0, "the first runs to its end");
  auto& measured = measured_[static_cast<std::size_t>(candidate)];
  measured.lost = measured.lost || measured.costs.empty();
  add(candidate, cost_so_far);
}

void Search::add(int candidate, double cost) {
  NIGH_ASSERT(cost > 0, "costs are positive");
  measured_[static_cast<std::size_t>(candidate)].costs.push_back(cost);
  ++runs_;
  if (!to_run_.empty() && to_run_.back() == candidate) to_run_.pop_back();
}

void Search::tell_failed(int candidate) {
  rule_out(candidate);
  ++runs_;
}

void Search::rule_out(int candidate) {
  measured_[static_cast<std::size_t>(candidate)].failed = true;
}

std::vector<Standing> Search::standings() const {
  return tune::standings(measured_, options_.seed);
}

int Search::passed_over() const {
  if (surveying_) return 0;
  int never = 0;
  for (std::size_t i = 0; i < measured_.size(); ++i) never += tried(i) ? 0 : 1;
  return never;
}

int Search::runs_left() const {
  if (options_.exhaustive) return static_cast<int>(to_run_.size());
  bool const decided = !surveying_ && in_race_.size() < 2;
  return decided && unconfirmed() < 0 ? 0 : most_runs() - runs_;
}

}  // namespace nigh::tune
