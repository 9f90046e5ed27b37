// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ranks take part, as one of them sees it. A state machine: the network's news, messages and
// times come in, decisions come out. It sends nothing and ends no process.
//
//   present ──says that it parts──▶ parting
//      │                              │
//      └── the network has lost it, or it is silent for too long ──▶ lost
//
// One rank, the root, decides for all: it listens to every other rank, and each other rank listens
// to it. A lost rank stays lost, whatever comes from it later. The root cannot be replaced today,
// so all others end when it is lost. A design in which its role passes on begins with root().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace nigh::cluster {

// How long ranks have said nothing. Only time in which this rank listened counts: at most a tenth
// of the limit from one look to the next. So a rank that had no cpu for a while, or was stopped,
// does not take its own absence for the silence of others. It looks again once it has heard the
// messages that waited for it.
class Silence {
 public:
  // limit_ns 0: no rank is ever silent.
  Silence(int ranks, std::int64_t limit_ns)
      : limit_ns_(limit_ns), quiet_ns_(static_cast<std::size_t>(ranks), 0) {}

  void heard(int rank) noexcept { quiet_ns_[static_cast<std::size_t>(rank)] = 0; }

  // The ranks of [first, last) that have been silent for too long. Each look returns them anew.
  std::vector<int> listen(int first, int last, std::int64_t now_ns) {
    if (limit_ns_ == 0) return {};
    auto const passed = has_looked_ ? std::min(now_ns - looked_at_ns_, limit_ns_ / 10) : 0;
    has_looked_ = true;
    looked_at_ns_ = now_ns;
    std::vector<int> silent;
    for (int r = first; r < last; ++r)
      if ((quiet_ns_[static_cast<std::size_t>(r)] += passed) >= limit_ns_) silent.push_back(r);
    return silent;
  }

 private:
  std::int64_t const limit_ns_;
  std::vector<std::int64_t> quiet_ns_;  // [rank]
  bool has_looked_ = false;
  std::int64_t looked_at_ns_ = 0;
};

class Membership {
 public:
  // survives: the others go on when a rank is lost. silence_ns 0: silence is no loss.
  Membership(int self, int ranks, bool survives, std::int64_t silence_ns)
      : self_(self),
        survives_(survives),
        has_limit_(silence_ns > 0),
        silence_(ranks, silence_ns),
        states_(static_cast<std::size_t>(ranks), State::present) {}

  // It decides for all, and begins the root task.
  static constexpr int root() noexcept { return 0; }
  bool is_root() const noexcept { return self_ == root(); }

  bool is_lost(int rank) const noexcept { return state(rank) == State::lost; }
  std::vector<int> left() const {
    std::vector<int> ranks;
    for (int r = 0; r < count(); ++r)
      if (!is_lost(r)) ranks.push_back(r);
    return ranks;
  }
  // The ranks that listen to this one.
  std::vector<int> listeners() const {
    if (!is_root()) return {root()};
    auto ranks = left();
    std::erase(ranks, self_);
    return ranks;
  }

  // False: that was known.
  bool lose(int rank) noexcept {
    if (is_lost(rank)) return false;
    state(rank) = State::lost;
    return true;
  }

  // ---- silence

  // This rank must say regularly that it is there.
  bool must_beat() const noexcept { return survives_ && has_limit_; }
  void heard(int rank) noexcept { silence_.heard(rank); }
  // The ranks that this one listens to, are not lost, and have been silent for too long. The root
  // tells all that they are left out; any other rank has lost the root, which decides.
  std::vector<int> listen(std::int64_t now_ns) {
    if (!survives_) return {};
    auto silent = is_root() ? silence_.listen(root() + 1, count(), now_ns)
                            : silence_.listen(root(), root() + 1, now_ns);
    std::erase_if(silent, [&](int r) { return is_lost(r); });
    return silent;
  }

  // ---- parting: ranks that will take part in no further run

  // That rank, perhaps this one, has said so, and that `last_run` was its last.
  void parts(int rank, std::uint32_t last_run) noexcept {
    if (!is_lost(rank)) state(rank) = State::parting;
    if (rank == self_ || last_run >= last_run_) return;
    last_run_ = last_run;
    first_to_part_ = rank;
  }
  // A rank that this run cannot do without, and that has parted or is lost.
  std::optional<int> missing_in(std::uint32_t run) const noexcept {
    if (run > last_run_) return first_to_part_;
    return {};
  }
  // Where ranks may be lost they part together: once the root has seen that all want to, or are
  // lost.
  bool has_parted() const noexcept { return has_parted_; }
  // On the root. True once: all ranks must be told.
  bool decides_to_part() noexcept {
    if (!survives_ || !is_root() || has_parted_) return false;
    has_parted_ =
        std::none_of(states_.begin(), states_.end(), [](State s) { return s == State::present; });
    return has_parted_;
  }
  // On any other rank: the root has decided.
  void root_has_parted() noexcept { has_parted_ = survives_; }

 private:
  enum class State : std::uint8_t { present, parting, lost };
  State& state(int rank) noexcept { return states_[static_cast<std::size_t>(rank)]; }
  State state(int rank) const noexcept { return states_[static_cast<std::size_t>(rank)]; }
  int count() const noexcept { return static_cast<int>(states_.size()); }

  int const self_;
  bool const survives_, has_limit_;
  Silence silence_;
  std::vector<State> states_;  // [rank]
  std::uint32_t last_run_ =
      std::numeric_limits<std::uint32_t>::max();  // the last run of the first rank to part
  int first_to_part_ = -1;
  bool has_parted_ = false;
};

}  // namespace nigh::cluster
