// SPDX-License-Identifier: Apache-2.0
// Tasks that are watched over, and what becomes of them when a rank is lost.

#include <span>
#include <string_view>
#include <utility>

#include "cluster/engine.hpp"
#include "policy/lifelines.hpp"

namespace nigh::cluster {

// The tasks that wait in the writer are this rank's to answer for from now on.
void Engine::keep_copies(int thief) {
  auto const given = writer_.take();
  writer_.clear();
  Reader reader(given);
  auto const header = reader.get<Header>();
  writer_.put(header);
  for (int i = 0; i < header.count; ++i)
    put_task(writer_, supervision_->keep(thief, plan_.self, get_task(reader)));
}

void Engine::place(int to, byte_view message) {
  Reader reader(message);
  auto const header = reader.get<Header>();
  auto task = get_task(reader);
  if (supervision_->is_lost(to) || is_closed()) return host_.take(std::move(task));
  Writer watched;
  watched.put(header);
  put_task(watched, supervision_->keep(to, plan_.self, std::move(task)));
  send_now(to, watched.view());
}

void Engine::result(ResultHead head, byte_view output) {
  if (!supervision_) return host_.deliver(head.token, {head.failed != 0, head.rank, output});
  auto const task = supervision_->result_of(head.token);
  if (!task) return;
  if (task->owner == plan_.self)
    return host_.deliver(task->token, {head.failed != 0, head.rank, output});
  head.token = task->token;
  Writer message;
  message.put(Header{Kind::result, 0, 1, run_});
  message.put(head);
  message.put(output);
  send_now(task->owner, message.view());
}

void Engine::lose(int rank, std::int64_t now_ns) {
  NIGH_ASSERT(supervision_ && rank != 0 && rank != plan_.self, "who is lost can be replaced");
  if (supervision_->is_lost(rank)) return;
  auto again = supervision_->lose(rank);
  counters_.tasks_run_again += again.size();
  std::erase_if(early_, [&](Task const& t) { return t.owner == rank; });
  lifelines_.let_go(rank);
  host_.forget(rank);
  for (auto& task : again) host_.take(std::move(task));
  if (asked_ && asks_ == rank) {
    asked_ = false;
    no_luck(now_ns);
  }
  hang_on_the_others();
}

// What is kept when a run is over is for tasks that came from a rank that is lost. Nobody waits for
// their results, but they may wait here: they go on, and end.
void Engine::release_waiting() {
  std::string_view const says = "the run is over";
  for (auto const& task : supervision_->release())
    if (task.owner == plan_.self)
      host_.deliver(task.token, {true, plan_.self, std::as_bytes(std::span(says))});
}

// Lifelines lead through all ranks that are left.
void Engine::hang_on_the_others() {
  if (!policies_.has_lifelines) return;
  std::vector<int> left;
  int self = 0;
  for (int r = 0; r < plan_.workers; ++r) {
    if (r == plan_.self) self = static_cast<int>(left.size());
    if (!supervision_->is_lost(r)) left.push_back(r);
  }
  auto buddies = policy::lifelines(self, static_cast<int>(left.size()));
  for (int& b : buddies) b = left[static_cast<std::size_t>(b)];
  lifelines_.change_to(buddies);
}

}  // namespace nigh::cluster
