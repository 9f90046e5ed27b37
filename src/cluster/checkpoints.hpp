// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checkpoints: values that tasks keep for the case that their rank is lost. A state machine, for
// one rank: calls of its tasks, messages and losses come in; messages and finished calls go out.
//
//   owner                    two keepers                 every other rank
//   keep() ──piece, piece──▶ copy, not complete
//          ◀──has_piece───── (each piece)
//   both have it
//          ──────complete──▶ complete: older ones go ──▶ older ones go, should it have some
//
// A rank keeps the complete copy of a name, and each newer one that has come as a whole. So
// whichever rank is lost, a whole copy is left. With a copy goes its group, the owner and its
// keepers. All of the group of a complete copy have it; so when one of them is lost the owner sends
// the copy to another rank, or, when the owner is lost, the lowest keeper, which becomes the owner.
// A keeper whose copy is not complete cannot know whether the other one has it: it becomes an
// owner, too. The other one answers then that it has all, and of two groups that of the lower owner
// holds.
//
// find() asks every rank which step it has, and fetches the newest from one of those that have it.
// forget() waits until every rank has heard of it, and raises the name's epoch, so that copies that
// are still on their way count as forgotten.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "cluster/checkpoint_pieces.hpp"
#include "cluster/wire.hpp"

namespace nigh::cluster {

struct CheckpointPolicy {
  bool keeps_copies = false;  // in other ranks
  PiecePolicy pieces = {};
};

class Checkpoints {
 public:
  using Content = CheckpointContent;
  using Call = void*;  // a task's, as it calls it; null: no task waits

  struct Found {
    std::int64_t step = 0;
    Content content;
  };
  struct Finished {
    Call call;
    std::optional<Found> found;  // of find()
  };

  // is_near: [rank], of this rank's host.
  Checkpoints(int self, std::vector<bool> is_near, CheckpointPolicy policy)
      : self_(self),
        keeps_copies_(policy.keeps_copies),
        is_near_(std::move(is_near)),
        is_left_(is_near_.size(), true),
        out_(policy.pieces, messages_) {}
  Checkpoints(Checkpoints&&) = delete;

  // ---- calls of this rank's tasks

  void keep(Call call, std::string const& name, std::int64_t step, Content content) {
    auto& kept = kept_[name];
    for (auto const& [held, copy] : kept.steps)
      if (held >= step && copy.is_complete) return finish(call);
    kept.steps[step] = {std::move(content), {}, false};
    spread(call, name, step);
  }
  void find(Call call, std::string const& name) {
    auto const id = ++last_id_;
    questions_[id] = {call, name, others(), {}};
    for (int const to : others()) send(to, {.what = What::find, .id = id}, name);
    answer_question(id);
  }
  void forget(Call call, std::string const& name) {
    auto const epoch = kept_[name].epoch + 1;
    raise_epoch(name, epoch);
    auto const id = ++last_id_;
    forgettings_[id] = {call, others()};
    for (int const to : others()) send(to, {.what = What::forget, .epoch = epoch, .id = id}, name);
    end_forgetting(id);
  }
  // The run is over: tasks that wait have been left by a lost rank. Copies go on.
  void end_calls() {
    for (auto& [id, keeping] : keepings_) finish(std::exchange(keeping.call, nullptr));
    for (auto const& [id, question] : questions_) finish(question.call, newest(question.name));
    for (auto const& [id, forgetting] : forgettings_) finish(forgetting.call);
    questions_.clear();
    forgettings_.clear();
  }

  // ---- facts

  void receive(int from, Reader& message) {
    auto const head = message.get<CheckpointHead>();
    auto const raw = message.get(head.name_bytes);
    std::string const name(reinterpret_cast<char const*>(raw.data()), raw.size());
    switch (head.what) {
      case What::piece:
        return take_piece(from, head, name, message.rest());
      case What::has_piece:
        return has_arrived(out_.go_on(head.id));
      case What::has_all:
        return has_arrived(out_.end(head.id));
      case What::complete:
        return take_complete(from, head, name);
      case What::find: {
        auto const mine = newest(name);
        auto const epoch = kept_.contains(name) ? kept_[name].epoch : 0;
        return send(from,
                    {.what = What::found,
                     .epoch = epoch,
                     .has_step = mine ? 1u : 0u,
                     .step = mine ? mine->step : 0,
                     .id = head.id},
                    {});
      }
      case What::found:
        return take_answer(from, head);
      case What::fetch: {
        auto const* const copy = find_copy(name, head.epoch, head.step);
        if (copy == nullptr) return send(from, {.what = What::gone, .id = head.id}, {});
        return send_copy(from, name, head.epoch, head.step, *copy, 0, head.id);
      }
      case What::gone:
        return ask_again(head.id);
      case What::forget:
        raise_epoch(name, head.epoch);
        return send(from, {.what = What::forgotten, .id = head.id}, {});
      case What::forgotten: {
        auto const at = forgettings_.find(head.id);
        if (at == forgettings_.end()) return;
        std::erase(at->second.pending, from);
        return end_forgetting(head.id);
      }
    }
    NIGH_ASSERT(false, "a message about checkpoints has a known kind");
  }

  void lose(int rank) {
    is_left_[index(rank)] = false;
    in_.lose(rank);
    out_.lose(rank);
    for (auto const id : ids_of(keepings_)) {
      auto& keeping = keepings_.at(id);
      if (std::erase(keeping.keepers, rank) == 0) continue;
      std::erase(keeping.pending, rank);
      find_keepers(id);
      end_keeping(id);
    }
    for (auto const id : ids_of(questions_)) {
      auto& question = questions_.at(id);
      if (question.best && question.best->rank == rank) {
        ask_again(id);  // another may have the same step
      } else {
        std::erase(question.pending, rank);
        answer_question(id);
      }
    }
    for (auto const id : ids_of(forgettings_)) {
      std::erase(forgettings_.at(id).pending, rank);
      end_forgetting(id);
    }
    keep_again_after(rank);
  }

  // ---- decisions; to be fetched after each of the above

  std::vector<CheckpointMessage> take_messages() { return std::exchange(messages_, {}); }
  std::vector<Finished> take_finished() { return std::exchange(finished_, {}); }

  // For tests: the bytes of copies here, and of that name.
  std::size_t held_bytes() const noexcept {
    std::size_t n = 0;
    for (auto const& [name, kept] : kept_)
      for (auto const& [step, copy] : kept.steps) n += copy.content->size();
    return n;
  }
  std::optional<Found> newest(std::string const& name) const {
    auto const at = kept_.find(name);
    if (at == kept_.end() || at->second.steps.empty()) return {};
    auto const& [step, copy] = *at->second.steps.rbegin();
    return Found{step, copy.content};
  }

 private:
  using What = CheckpointHead::What;
  using Id = std::uint64_t;
  using Ranks = std::vector<int>;

  struct Group {
    int owner = -1;
    std::array<std::int32_t, 2> keepers{-1, -1};
    bool has(int rank) const noexcept {
      return rank == owner || rank == keepers[0] || rank == keepers[1];
    }
  };
  struct Copy {
    Content content;
    Group group;
    bool is_complete = false;
  };
  struct Kept {
    std::uint32_t epoch = 0;
    std::map<std::int64_t, Copy> steps;
  };
  struct Keeping {  // by this rank as the owner
    Call call;
    std::string name;
    std::uint32_t epoch;
    std::int64_t step;
    Ranks keepers, pending;
  };
  struct Best {
    int rank;
    std::uint32_t epoch;
    std::int64_t step;
  };
  struct Question {
    Call call;
    std::string name;
    Ranks pending;
    std::optional<Best> best;
    bool is_fetched = false;
  };
  struct Forgetting {
    Call call;
    Ranks pending;
  };

  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  int count() const noexcept { return static_cast<int>(is_left_.size()); }
  bool is_left(int rank) const noexcept { return rank >= 0 && is_left_[index(rank)]; }
  Ranks others() const {
    Ranks ranks;
    for (int r = 0; r < count(); ++r)
      if (r != self_ && is_left(r)) ranks.push_back(r);
    return ranks;
  }
  template <class Map>
  static std::vector<Id> ids_of(Map const& map) {
    std::vector<Id> ids;
    for (auto const& [id, what] : map) ids.push_back(id);
    return ids;
  }
  Copy* find_copy(std::string const& name, std::uint32_t epoch, std::int64_t step) {
    auto const at = kept_.find(name);
    if (at == kept_.end() || at->second.epoch != epoch) return nullptr;
    auto const copy = at->second.steps.find(step);
    return copy == at->second.steps.end() ? nullptr : &copy->second;
  }

  void send(int to, CheckpointHead head, std::string const& name) {
    head.name_bytes = static_cast<std::uint32_t>(name.size());
    messages_.push_back({to, head, name});
  }
  void finish(Call call, std::optional<Found> found = {}) {
    if (call != nullptr) finished_.push_back({call, std::move(found)});
  }

  // ---- the owner

  // This rank has that copy, and becomes its owner. `preferred` have it, perhaps.
  void spread(Call call, std::string const& name, std::int64_t step, Ranks const& preferred = {}) {
    auto const id = ++last_id_;
    auto& keeping = keepings_[id] = {call, name, kept_[name].epoch, step, {}, {}};
    for (int const rank : preferred) keeping.keepers.push_back(rank);
    keeping.pending = keeping.keepers;
    find_keepers(id);
    auto const group = group_of(keeping);
    auto& copy = kept_[name].steps.at(step);
    copy.group = group;
    for (int const to : preferred) send_copy(to, name, keeping.epoch, step, copy, id, 0);
    end_keeping(id);
  }
  Group group_of(Keeping const& keeping) const {
    Group group{self_, {-1, -1}};
    std::copy(keeping.keepers.begin(), keeping.keepers.end(), group.keepers.begin());
    return group;
  }
  // Those of other hosts first, in a ring that starts after this rank.
  void find_keepers(Id id) {
    auto& keeping = keepings_.at(id);
    if (!keeps_copies_) return;
    for (bool const near : {false, true})
      for (int i = 1; i < count() && keeping.keepers.size() < Group{}.keepers.size(); ++i) {
        int const rank = (self_ + i) % count();
        bool const is_in = std::find(keeping.keepers.begin(), keeping.keepers.end(), rank) !=
                           keeping.keepers.end();
        if (!is_left(rank) || is_near_[index(rank)] != near || is_in) continue;
        auto* const copy = find_copy(keeping.name, keeping.epoch, keeping.step);
        if (copy == nullptr) return;  // a newer one has come
        keeping.keepers.push_back(rank);
        keeping.pending.push_back(rank);
        copy->group = group_of(keeping);
        send_copy(rank, keeping.name, keeping.epoch, keeping.step, *copy, id, 0);
      }
  }
  void end_keeping(Id id) {
    auto const at = keepings_.find(id);
    if (at == keepings_.end() || !at->second.pending.empty()) return;
    auto const keeping = std::move(at->second);
    keepings_.erase(at);
    finish(keeping.call);
    auto* const copy = find_copy(keeping.name, keeping.epoch, keeping.step);
    if (copy == nullptr) return;
    copy->is_complete = true;
    copy->group = group_of(keeping);
    drop_before(keeping.name, keeping.step);
    if (!keeps_copies_) return;
    for (int const to : others())
      send(to,
           {.what = What::complete,
            .epoch = keeping.epoch,
            .keepers = copy->group.keepers,
            .step = keeping.step},
           keeping.name);
  }
  void drop_before(std::string const& name, std::int64_t step) {
    auto& steps = kept_[name].steps;
    steps.erase(steps.begin(), steps.lower_bound(step));
  }

  void keep_again_after(int lost) {
    struct Again {
      std::string name;
      std::int64_t step;
      Ranks preferred;
    };
    std::vector<Again> again;
    for (auto const& [name, kept] : kept_)
      for (auto const& [step, copy] : kept.steps) {
        if (!copy.group.has(lost) || !must_act(copy)) continue;
        Ranks preferred;
        for (int const rank : {copy.group.owner, copy.group.keepers[0], copy.group.keepers[1]})
          if (rank != self_ && is_left(rank)) preferred.push_back(rank);
        again.push_back({name, step, std::move(preferred)});
      }
    for (auto const& [name, step, preferred] : again) spread(nullptr, name, step, preferred);
  }
  // An owner whose copy is not complete yet is about to find another keeper.
  bool must_act(Copy const& copy) const noexcept {
    if (copy.group.owner == self_) return copy.is_complete;
    if (is_left(copy.group.owner)) return false;
    for (int const keeper : copy.group.keepers)
      if (copy.is_complete && is_left(keeper) && keeper < self_) return false;
    return true;
  }

  void send_copy(int to, std::string const& name, std::uint32_t epoch, std::int64_t step,
                 Copy const& copy, Id keeping, Id answers) {
    CheckpointHead const head{.name_bytes = static_cast<std::uint32_t>(name.size()),
                              .epoch = epoch,
                              .keepers = copy.group.keepers,
                              .step = step,
                              .id = ++last_id_,
                              .answers = answers,
                              .total_bytes = copy.content->size()};
    out_.begin(to, head, name, copy.content, keeping);
  }
  void has_arrived(std::optional<PiecesOut::Arrived> arrived) {
    if (!arrived) return;
    auto const keeping = keepings_.find(arrived->keeping);
    if (keeping == keepings_.end()) return;
    std::erase(keeping->second.pending, arrived->at);
    end_keeping(keeping->first);
  }

  // ---- the keeper

  bool is_wanted(CheckpointHead const& head, std::string const& name) {
    if (head.answers != 0) return questions_.contains(head.answers);
    auto const& kept = kept_[name];
    if (head.epoch < kept.epoch) return false;
    for (auto const& [step, copy] : kept.steps)
      if (step == head.step || (step > head.step && copy.is_complete)) return false;
    return true;
  }
  void take_piece(int from, CheckpointHead const& head, std::string const& name, byte_view piece) {
    if (head.answers == 0) raise_epoch(name, head.epoch);
    if (!in_.continues(from, head)) return;
    if (!is_wanted(head, name)) {
      in_.drop(from, head.id);
      return send(from, {.what = What::has_all, .id = head.id}, {});
    }
    auto content = in_.take(from, head, piece);
    if (content && head.answers == 0) {
      kept_[name].steps[head.step] = {std::move(content), {from, head.keepers}, false};
    } else if (content) {
      finish(questions_.at(head.answers).call, Found{head.step, std::move(content)});
      questions_.erase(head.answers);
    }
    send(from, {.what = What::has_piece, .id = head.id}, {});
  }
  void take_complete(int from, CheckpointHead const& head, std::string const& name) {
    raise_epoch(name, head.epoch);
    if (kept_[name].epoch != head.epoch) return;
    drop_before(name, head.step);
    auto* const copy = find_copy(name, head.epoch, head.step);
    if (copy == nullptr) return;
    copy->is_complete = true;
    if (is_left(copy->group.owner) && copy->group.owner < from) return;
    copy->group = {from, head.keepers};
    if (!copy->group.has(self_)) kept_[name].steps.erase(head.step);
  }
  void raise_epoch(std::string const& name, std::uint32_t epoch) {
    auto& kept = kept_[name];
    if (epoch <= kept.epoch) return;
    kept = {epoch, {}};
  }

  // ---- questions

  void take_answer(int from, CheckpointHead const& head) {
    auto const at = questions_.find(head.id);
    if (at == questions_.end()) return;
    auto& question = at->second;
    std::erase(question.pending, from);
    bool const is_newer =
        !question.best ||
        std::pair(head.epoch, head.step) > std::pair(question.best->epoch, question.best->step);
    if (head.has_step != 0 && is_newer) question.best = {from, head.epoch, head.step};
    answer_question(head.id);
  }
  void answer_question(Id id) {
    auto& question = questions_.at(id);
    if (!question.pending.empty() || question.is_fetched) return;
    auto const mine = newest(question.name);
    auto const& best = question.best;
    auto const my_epoch = kept_.contains(question.name) ? kept_[question.name].epoch : 0;
    bool const is_elsewhere =
        best && best->epoch >= my_epoch &&
        (!mine || std::pair(best->epoch, best->step) > std::pair(my_epoch, mine->step));
    if (!is_elsewhere) {
      finish(question.call, mine);
      questions_.erase(id);
      return;
    }
    question.is_fetched = true;
    send(best->rank, {.what = What::fetch, .epoch = best->epoch, .step = best->step, .id = id},
         question.name);
  }
  void ask_again(Id id) {
    auto const at = questions_.find(id);
    if (at == questions_.end()) return;
    auto const question = std::move(at->second);
    questions_.erase(at);
    find(question.call, question.name);
  }
  void end_forgetting(Id id) {
    auto const at = forgettings_.find(id);
    if (at == forgettings_.end() || !at->second.pending.empty()) return;
    finish(at->second.call);
    forgettings_.erase(at);
  }

  int const self_;
  bool const keeps_copies_;
  std::vector<bool> const is_near_;   // [rank]
  std::vector<bool> is_left_;         // [rank]
  std::map<std::string, Kept> kept_;  // [name]; where it was forgotten, without steps
  std::map<Id, Keeping> keepings_;
  std::map<Id, Question> questions_;
  std::map<Id, Forgetting> forgettings_;
  Id last_id_ = 0;
  std::vector<CheckpointMessage> messages_;
  PiecesOut out_;
  PiecesIn in_;
  std::vector<Finished> finished_;
};

}  // namespace nigh::cluster
