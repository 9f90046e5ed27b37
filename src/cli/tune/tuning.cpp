// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "cli/tune/last_words.hpp"
#include "platform/progress.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {

using std::chrono::nanoseconds;

Tuning::Tuning(Space space, Metric metric, nanoseconds budget, MakeLaunch make_launch,
               tune::SearchOptions options)
    : space_(std::move(space)),
      metric_(std::move(metric)),
      make_launch_(std::move(make_launch)),
      search_(space_.candidates, options),
      exhaustive_(options.exhaustive),
      failures_(space_.requests.size()),
      end_(start_ + budget) {}

int Tuning::run() {
  platform::SignalsHeld const held;  // until the file is gone
  int const signal = run_candidates();
  output_.reset();
  return signal;
}

int Tuning::run_candidates() {
  platform::Progress progress;
  while (auto const candidate = search_.next()) {
    if (int const signal = platform::SignalsHeld::pending()) return interrupted(signal);
    auto const left = end_ - Clock::now();
    if (left < expected(*candidate)) {
      ended_ = "the budget ended it";
      break;
    }
    progress.show({search_.runs(), search_.runs() + search_.runs_left(), true,
                   name_of(space_, *candidate), std::chrono::duration<double>(left).count()});
    if (int const signal = run_one(*candidate, left)) return interrupted(signal);
    if (!ended_.empty()) break;
  }
  return 0;
}

Outcome Tuning::outcome() const {
  return {space_,
          search_,
          metric_,
          failures_,
          std::chrono::duration<double>(Clock::now() - start_).count(),
          ended_,
          others_.cpus(),
          static_cast<int>(cpus_.size())};
}

std::string Tuning::failure() const {
  if (space_.ranks.empty())
    return failures_.front().empty()
               ? ""
               : space_.as_it_is + " cannot be measured: " + failures_.front();
  if (!first_failed_ || !search_.standings().empty()) return {};
  return fmt::format("nothing can be measured; {}: {}", name_of(space_, *first_failed_),
                     failures_[static_cast<std::size_t>(*first_failed_)]);
}

int Tuning::interrupted(int signal) {
  ended_ = "interrupted";
  return signal;
}

// The time this one took before, or the usual time.
nanoseconds Tuning::expected(int candidate) const {
  auto const it = took_.find(candidate);
  double seconds = it != took_.end() ? it->second : 0;
  if (it == took_.end() && !took_.empty()) {
    std::vector<double> all;
    for (auto const& [c, s] : took_) all.push_back(s);
    seconds = tune::median(all);
  }
  return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

// A run that takes three times as long as the best has lost, when time is the metric.
std::optional<nanoseconds> Tuning::losing_time() const {
  auto const table = search_.standings();
  if (!metric_.is_time() || table.empty() || exhaustive_) return {};
  constexpr double lost = 3;
  constexpr nanoseconds least = std::chrono::milliseconds(100);
  return std::max(least, nanoseconds(static_cast<std::int64_t>(lost * 1e9 * table.front().cost)));
}

int Tuning::run_one(int candidate, nanoseconds left) {
  // The first one is what all others are compared with, so it runs to its end.
  auto const losing = candidate == 0 ? left : losing_time().value_or(left);
  auto const limit = std::min(left, losing);
  RunWatch const watch(cpus_);
  auto const ending = platform::run_measured(make_launch_(candidate), output_->path(), limit);
  if (!ending) throw std::runtime_error("tune: " + ending.message());
  watch.end(ending->seconds, ending->cpu_seconds, others_);
  if (ending->interrupted > 0) return ending->interrupted;
  if (ending->interrupted == platform::limit_reached) {
    if (left <= losing) {
      ended_ = "the budget ended it";
    } else {
      search_.tell_lost(candidate, std::chrono::duration<double>(limit).count());
    }
    return 0;
  }
  took_[candidate] = ending->seconds;
  if (ending->not_started) {
    if (!space_.ranks.empty()) ended_ = "it cannot be started";
    if (!first_failed_) not_started_ = ending->not_started->status;
    return fail(candidate, ending->not_started->message);
  }
  if (ending->status != 0) {
    auto const words = space_.ranks.empty() ? last_lines(output_->end(), 1)
                                            : reason_of_launcher(output_->end());
    return fail(candidate,
                (ending->signal > 0 ? fmt::format("signal {} ended it", ending->signal)
                                    : fmt::format("its exit status is {}", ending->status)) +
                    (words.empty() ? "" : ", its last words: " + words));
  }
  std::ifstream output(metric_.is_time() ? "" : output_->path(), std::ios::binary);
  auto const value = metric_.value(ending->seconds, output);
  if (!value) return fail(candidate, value.message());
  search_.tell(candidate, metric_.cost(*value));
  return 0;
}

int Tuning::fail(int candidate, std::string why) {
  if (!first_failed_) first_failed_ = candidate;
  search_.tell_failed(candidate);
  if (space_.ranks.empty() && candidate == 0) ended_ = "the program fails as it is";
  int const others = space_.ranks.empty() ? 0 : rule_out_ranks_of(candidate);
  if (others > 0) why += fmt::format("; {} others of so many ranks are out, too", others);
  failures_[static_cast<std::size_t>(candidate)] = std::move(why);
  return 0;
}

// When so many ranks have failed in two ways and succeeded in none, the program cannot run with
// them: returns how many candidates that have not run are out with them.
int Tuning::rule_out_ranks_of(int candidate) {
  auto const ranks = [&](std::size_t i) { return space_.ranks[i].per_host; };
  auto const& measured = search_.measured();
  std::vector<int> untried;
  int failed = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (ranks(i) != ranks(static_cast<std::size_t>(candidate))) continue;
    if (measured[i].known()) return 0;
    if (measured[i].failed)
      ++failed;
    else
      untried.push_back(static_cast<int>(i));
  }
  if (failed < 2) return 0;
  for (int const c : untried) search_.rule_out(c);
  return static_cast<int>(untried.size());
}

}  // namespace nigh::cli
