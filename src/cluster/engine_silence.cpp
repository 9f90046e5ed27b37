// SPDX-License-Identifier: Apache-2.0
// Ranks that say nothing any more, though nobody says that they are lost: they were stopped, or cut
// off. Rank 0 and each other listen to one another; rank 0, which cannot be replaced, decides, and
// tells all, the one that is left too.
//
// And ranks that end their session while others wait for them in a run: by an exception, as a rule.

#include "cluster/engine.hpp"

namespace nigh::cluster {

void Engine::beat() {
  if (supervision_ && policies_.silence_ns > 0) tell_those_who_listen(Kind::beat, plan_.self);
}

void Engine::listen(std::int64_t now_ns) {
  if (!supervision_) return;
  if (plan_.self != 0) {
    if (!silence_.listen(0, 1, now_ns).empty()) host_.has_to_end(Host::End::root_is_silent, 0);
    return;
  }
  for (int const silent : silence_.listen(1, plan_.workers, now_ns)) {
    if (supervision_->is_lost(silent)) continue;
    tell_those_who_listen(Kind::silent, silent);
    leave(silent, now_ns);
  }
  look_whether_all_part();
}

// A rank is told by rank 0 that some rank is left, or that it is itself.
void Engine::told_of_silent(int rank, std::int64_t now_ns) {
  if (rank == plan_.self) return host_.has_to_end(Host::End::was_left, 0);
  leave(rank, now_ns);
}

void Engine::leave(int rank, std::int64_t now_ns) {
  if (supervision_->is_lost(rank)) return;
  lose(rank, now_ns);
  host_.leave(rank);
}

void Engine::part() {
  wants_to_part_ = true;
  if (plan_.self != 0 || !supervision_) return tell_those_who_listen(Kind::parts, plan_.self);
  look_whether_all_part();
}

void Engine::look_whether_all_part() {
  if (!wants_to_part_ || has_parted_) return;
  for (int r = 1; r < plan_.workers; ++r)
    if (!parts_[static_cast<std::size_t>(r)] && !supervision_->is_lost(r)) return;
  has_parted_ = true;
  tell_those_who_listen(Kind::parts, 0);
}

void Engine::rank_parts(int rank, std::uint32_t last_run) {
  if (last_run < last_run_) {
    last_run_ = last_run;
    first_to_part_ = rank;
    look_whether_somebody_misses();
  }
  if (!supervision_) return;
  if (plan_.self != 0) {
    has_parted_ = true;
    return;
  }
  parts_[static_cast<std::size_t>(rank)] = true;
  look_whether_all_part();
}

void Engine::look_whether_somebody_misses() {
  if (run_ > last_run_) host_.has_to_end(Host::End::has_parted, first_to_part_);
}

// Rank 0 tells all, all others tell rank 0.
void Engine::tell_those_who_listen(Kind kind, int about) {
  Writer message;
  message.put(Header{kind, 0, 0, run_});
  message.put(std::int32_t{about});
  if (plan_.self != 0) return send_now(0, message.view());
  for (int to = 1; to < plan_.workers; ++to) send_now(to, message.view());
}

}  // namespace nigh::cluster
