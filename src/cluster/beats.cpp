// SPDX-License-Identifier: Apache-2.0
#include "cluster/beats.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/clock.hpp"
#include "platform/local_socket.hpp"
#include "platform/process_identity.hpp"

namespace nigh::cluster {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::uint64_t the_bell = ~std::uint64_t{0} - 1;  // beside places in the list of processes

}  // namespace

result<std::unique_ptr<Beats>> Beats::start(std::int64_t every_us, Calls calls,
                                            std::span<RankProcess const> processes) {
  auto events = platform::EventSet::make();
  if (!events) return events.to_error();
  std::unique_ptr<Beats> beats(new Beats(every_us, std::move(calls), std::move(*events)));
  if (auto const watched = beats->watch(processes); !watched) return watched.to_error();
  auto thread = platform::Thread::start(stack_bytes, [b = beats.get()] { b->run(); });
  if (!thread) return thread.to_error();
  beats->thread_ = std::move(*thread);
  return beats;
}

result<void> Beats::watch(std::span<RankProcess const> processes) {
  if (auto const added = events_.add(bell_.descriptor(), the_bell); !added) return added;
  for (auto const& process : processes) {
    int const descriptor = platform::open_process(process.pid);
    if (descriptor < 0) continue;
    watched_.push_back({process.rank, descriptor});
    if (auto const added = events_.add(descriptor, watched_.size() - 1); !added) return added;
  }
  return {};
}

Beats::~Beats() {
  if (thread_) {
    stops_.store(true, sync::relaxed);
    bell_.ring();
    thread_->join();
  }
  for (auto const& w : watched_) platform::close_descriptor(w.descriptor);
}

void Beats::run() {
  platform::name_this_thread("nigh-beats");
  platform::leave_signals_to_others();
  std::int64_t next_us = base::now_us();
  while (!stops_.load(sync::relaxed)) {
    auto const now_us = base::now_us();
    if (every_us_ > 0 && now_us >= next_us) {
      calls_.beat();
      next_us = now_us + every_us_;
    }
    std::optional<std::int64_t> patience_us;
    if (every_us_ > 0) patience_us = std::max<std::int64_t>(0, next_us - base::now_us());
    for (auto const name : events_.wait(patience_us)) {
      if (name == the_bell) continue;
      auto const& ended = watched_[static_cast<std::size_t>(name)];
      events_.remove(ended.descriptor);
      calls_.has_ended(ended.rank);
    }
  }
}

}  // namespace nigh::cluster
