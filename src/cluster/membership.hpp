// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ranks take part, as one of them sees it. A state machine: the network's news, messages and
// times come in, decisions come out. It sends nothing and ends no process.
//
//   present ──says that it parts──▶ parting
//      │                              │
//      └── the network has lost it, or it is silent for too long ──▶ lost
//
// One rank, the root, has the root task and decides for all: the lowest that is not lost. Its deputy, the
// next, becomes the root when the root is lost; the deputy decides whether the root is silent. Every rank
// listens to these two, and these two listen to all. A lost rank stays lost, whatever comes from it later.
// A rank to which both have fallen silent ends: it cannot know who decides now.
//
// Of the ranks that are left the lowest work, as many as the session's size says; the others are spare. So a
// spare rank works once it hears of the loss of one that did, without a message. The root always
// works, and ranks that disagree for a while do no harm: see Engine::give_back().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/assert.hpp"

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

  void begin_anew() noexcept { std::fill(quiet_ns_.begin(), quiet_ns_.end(), 0); }

  // The ranks that have been silent for too long. Each look returns them anew.
  std::vector<int> listen(std::int64_t now_ns) {
    if (limit_ns_ == 0) return {};
    auto const passed = has_looked_ ? std::min(now_ns - looked_at_ns_, limit_ns_ / 10) : 0;
    has_looked_ = true;
    looked_at_ns_ = now_ns;
    std::vector<int> silent;
    for (std::size_t r = 0; r < quiet_ns_.size(); ++r)
      if ((quiet_ns_[r] += passed) >= limit_ns_) silent.push_back(static_cast<int>(r));
    return silent;
  }

 private:
  std::int64_t const limit_ns_;
  std::vector<std::int64_t> quiet_ns_;  // [rank]
  bool has_looked_ = false;
  std::int64_t looked_at_ns_ = 0;
};

// How many ranks should work. Of two sizes the later holds: the one of the higher version; of ranks
// that have resized at the same time, the higher rank's.
struct SessionSize {
  std::uint32_t version = 0;  // 0: as the session began
  std::int32_t by = 0;
  std::int32_t ranks = 0;
  bool operator==(SessionSize const&) const = default;
  bool is_later_than(SessionSize const& other) const noexcept {
    return version != other.version ? version > other.version : by > other.by;
  }
};

class Membership {
 public:
  // survives: the others go on when a rank is lost. silence_ns 0: silence is no loss.
  Membership(int self, int ranks, bool survives, std::int64_t silence_ns, int spares = 0)
      : self_(self),
        survives_(survives),
        has_limit_(silence_ns > 0),
        silence_(ranks, silence_ns),
        states_(static_cast<std::size_t>(ranks), State::present),
        size_{0, 0, ranks - spares} {
    NIGH_ASSERT(spares >= 0 && spares < ranks, "one rank works at least");
    find_spares();
  }

  static constexpr int nobody = -1;

  // It decides for all, and has the root task.
  int root() const noexcept { return first_left_from(0); }
  bool is_root() const noexcept { return self_ == root(); }
  int deputy() const noexcept { return first_left_from(root() + 1); }  // nobody: the root is alone

  bool is_lost(int rank) const noexcept { return state(rank) == State::lost; }
  std::vector<int> left() const {
    std::vector<int> ranks;
    for (int r = 0; r < count(); ++r)
      if (!is_lost(r)) ranks.push_back(r);
    return ranks;
  }
  std::vector<int> others() const {
    auto ranks = left();
    std::erase(ranks, self_);
    return ranks;
  }
  // The ranks that listen to this one.
  std::vector<int> listeners() const {
    if (is_root() || (survives_ && self_ == deputy())) return others();
    if (!survives_) return {root()};
    return {root(), deputy()};
  }

  // False: that was known.
  bool lose(int rank) noexcept {
    if (is_lost(rank)) return false;
    // Until now others may have had no reason to speak to the new root or deputy.
    if (rank == root() || rank == deputy()) silence_.begin_anew();
    state(rank) = State::lost;
    find_spares();
    return true;
  }

  // ---- work

  bool works(int rank) const noexcept { return rank < first_spare_ && !is_lost(rank); }
  bool has_spares() const noexcept { return first_spare_ < count(); }
  std::vector<int> working() const {
    auto ranks = left();
    std::erase_if(ranks, [&](int r) { return r >= first_spare_; });
    return ranks;
  }
  SessionSize const& size() const noexcept { return size_; }
  // This rank wants so many to work; all others must be told.
  void resize(int ranks) noexcept {
    NIGH_ASSERT(ranks > 0 && ranks <= count(), "one rank works at least");
    size_ = {size_.version + 1, self_, ranks};
    find_spares();
  }
  // Another rank does. False: that was known, or a later size is.
  bool take_size(SessionSize const& size) noexcept {
    if (!size.is_later_than(size_)) return false;
    size_ = size;
    find_spares();
    return true;
  }

  // ---- silence

  // This rank must say regularly that it is there, and to whom.
  bool must_beat() const noexcept { return survives_ && has_limit_; }
  std::vector<int> listeners_to_beats() const {
    auto ranks = listeners();
    std::erase_if(ranks, [this](int r) { return have_both_parted(r); });
    return ranks;
  }
  void heard(int rank) noexcept { silence_.heard(rank); }
  // The ranks that count as lost from now on, for their silence, where this rank decides that. All
  // others must be told.
  std::vector<int> listen(std::int64_t now_ns) {
    if (!survives_) return {};
    is_cut_off_ = false;
    auto silent = silence_.listen(now_ns);
    std::erase_if(silent, [&](int r) { return is_lost(r) || r == self_ || have_both_parted(r); });
    auto const is_silent = [&](int r) {
      return std::find(silent.begin(), silent.end(), r) != silent.end();
    };
    if (is_root()) return silent;
    if (self_ == deputy()) return is_silent(root()) ? std::vector{root()} : std::vector<int>{};
    is_cut_off_ = is_silent(root()) && is_silent(deputy());
    return {};
  }
  // Root and deputy are silent, and this rank is neither.
  bool is_cut_off() const noexcept { return is_cut_off_; }

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
  // Where ranks may be lost they part together: once each is known to want to, or to be lost.
  bool has_parted() const noexcept {
    return survives_ &&
           std::none_of(states_.begin(), states_.end(), [](State s) { return s == State::present; });
  }

 private:
  enum class State : std::uint8_t { present, parting, lost };
  State& state(int rank) noexcept { return states_[static_cast<std::size_t>(rank)]; }
  State state(int rank) const noexcept { return states_[static_cast<std::size_t>(rank)]; }
  // That rank may have ended, and a library may crash that sends to it once more. This one needs no
  // word from it.
  bool have_both_parted(int rank) const noexcept {
    return state(self_) == State::parting && state(rank) == State::parting;
  }
  int first_left_from(int rank) const noexcept {
    for (int r = rank; r < count(); ++r)
      if (!is_lost(r)) return r;
    return nobody;
  }
  int count() const noexcept { return static_cast<int>(states_.size()); }
  void find_spares() noexcept {
    int to_work = size_.ranks;
    first_spare_ = 0;
    while (first_spare_ < count() && to_work > 0) to_work -= !is_lost(first_spare_++);
  }

  int const self_;
  bool const survives_, has_limit_;
  Silence silence_;
  std::vector<State> states_;  // [rank]
  SessionSize size_;
  int first_spare_ = 0;  // it, and all above it that are not lost
  std::uint32_t last_run_ =
      std::numeric_limits<std::uint32_t>::max();  // the last run of the first rank to part
  int first_to_part_ = -1;
  bool is_cut_off_ = false;
};

}  // namespace nigh::cluster
