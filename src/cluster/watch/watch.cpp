// SPDX-License-Identifier: Apache-2.0
#include "cluster/watch/watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "base/seconds_variable.hpp"
#include "platform/last_words.hpp"
#include "platform/program.hpp"

namespace nigh::cluster {
namespace {

constexpr Time second = 1'000'000;
constexpr std::size_t watch_stack_bytes = 256 * 1024;
constexpr std::uint64_t bell_of_watch = 2;  // beside the two sides
constexpr std::chrono::milliseconds time_for_last_words{1000};

template <class T>
std::vector<T> gather(T const& mine, int ranks, Watch::Exchange const& exchange) {
  auto const bytes = exchange(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> all(static_cast<std::size_t>(ranks));
  NIGH_ASSERT(bytes.size() == all.size() * sizeof(T), "an exchange gives everybody's bytes");
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::string named(int rank, std::vector<Card> const& cards) {
  return "rank " + std::to_string(rank) + " on " +
         cards[static_cast<std::size_t>(rank)].host.data();
}

void report_unwatched(std::vector<bool> const& edges, std::vector<Card> const& cards) {
  int const ranks = static_cast<int>(edges.size());
  int first = -1, others = -1;
  for (int r = ranks - 1; r >= 0; --r)
    if (neighbour(r, ranks, Side::right) >= 0 && !edges[static_cast<std::size_t>(r)])
      first = r, ++others;
  if (first < 0) return;
  auto const more = others > 0 ? " (nor can " + std::to_string(others) + " more)" : "";
  std::fprintf(stderr, "nigh: %s and %s cannot connect%s: they do not watch each other\n",
               named(first, cards).c_str(),
               named(neighbour(first, ranks, Side::right), cards).c_str(), more.c_str());
}

}  // namespace

Time silence_of_environment() {
  return base::seconds_variable("NIGH_CLUSTER_SILENCE", RingOptions{}.silence_us);
}

result<std::unique_ptr<Watch>> Watch::start(int rank, int ranks, Exchange const& exchange,
                                            Time patience_us) {
  std::optional<Meeting> meeting;
  Card mine;
  if (ranks > 1) mine = meeting.emplace().card();
  mine.job = random_number();
  mine.secret = random_number();
  mine.silence_us = silence_of_environment();
  auto cards = gather(mine, ranks, exchange);
  if (cards[0].silence_us < 0) return error{bad_silence};
  Meeting::Links links;
  if (ranks > 1 && cards[0].silence_us > 0)
    links = meeting->connect(rank, cards, now_us() + patience_us);

  // An edge counts if both of its ranks have it.
  struct Ends {
    std::uint8_t left, right;
  };
  auto const ends = gather(Ends{links.left.is_open(), links.right.is_open()}, ranks, exchange);
  std::vector<bool> edges;
  for (int r = 0; r < ranks; ++r) {
    int const right = neighbour(r, ranks, Side::right);
    edges.push_back(right >= 0 && ends[static_cast<std::size_t>(r)].right != 0 &&
                    ends[static_cast<std::size_t>(right)].left != 0);
  }
  if (rank == 0 && cards[0].silence_us > 0) report_unwatched(edges, cards);

  auto events = platform::EventSet::make();
  if (!events) return events.to_error();
  std::unique_ptr<Watch> watch(
      new Watch(rank, std::move(cards), std::move(links), edges, std::move(*events)));
  for (Side const side : {Side::left, Side::right}) {
    if (!watch->ring_.is_connected(side)) continue;
    auto const added =
        watch->events_.add(watch->link(side).socket(), std::uint64_t{side == Side::right});
    if (!added) return added.to_error();
  }
  if (!watch->ring_.is_connected(Side::left) && !watch->ring_.is_connected(Side::right))
    return watch;
  if (auto const added = watch->events_.add(watch->bell_.descriptor(), bell_of_watch); !added)
    return added.to_error();
  auto thread = platform::Thread::start(watch_stack_bytes, [w = watch.get()] { w->run(); });
  if (!thread) return thread.to_error();
  watch->thread_ = std::move(*thread);
  return watch;
}

Watch::Watch(int rank, std::vector<Card> cards, Meeting::Links links,
             std::vector<bool> const& edges, platform::EventSet events)
    : rank_(rank),
      process_(platform::process_id()),
      cards_(std::move(cards)),
      links_(std::move(links)),
      options_{.beat_us = std::min(RingOptions{}.beat_us, cards_[0].silence_us / 10),
               .silence_us = cards_[0].silence_us},
      ring_(rank, edges, options_, now_us()),
      events_(std::move(events)) {}

Watch::~Watch() {
  if (!thread_ || process_ != platform::process_id()) return;  // a child of fork() has no thread
  stops_.store(true, sync::relaxed);
  bell_.ring();
  thread_->join();
}

void Watch::leave() {
  if (!thread_ || process_ != platform::process_id()) return;
  leaves_.store(true, sync::relaxed);
  bell_.ring();
  thread_->join();
  thread_.reset();
}

void Watch::end_without(int rank) noexcept {
  if (!thread_ || process_ != platform::process_id()) return;
  missing_.store(rank, sync::relaxed);
  bell_.ring();
  std::this_thread::sleep_for(std::chrono::seconds(3));
}

void Watch::run() {
  platform::name_this_thread("nigh-watch");
  platform::leave_signals_to_others();
  bool has_asked = false;
  while (!stops_.load(sync::relaxed)) {
    auto const names = events_.wait(std::max<Time>(0, ring_.next_tick() - now_us()));
    if (std::find(names.begin(), names.end(), bell_of_watch) != names.end()) bell_.wait(-1, 0);
    if (leaves_.load(sync::relaxed) && !std::exchange(has_asked, true)) say(ring_.leave());
    for (Side const side : {Side::left, Side::right})
      if (ring_.is_connected(side)) listen(side);
    say(ring_.tick(now_us()));
    if (int const missing = missing_.load(sync::relaxed); missing >= 0) {
      auto const sends = ring_.learn_of({missing, RingLoss::How::left, 0});
      if (ring_.loss()) write_loss();  // first: the launcher may end all when that rank hears and ends
      say(sends);
    }
    if (ring_.loss()) return end();
    if (ring_.has_left()) return part();
  }
}

void Watch::listen(Side side) {
  while (auto const frame = link(side).receive())
    say(ring_.received(side, {frame->said, frame->loss}, now_us()));
  if (link(side).has_ended()) say(ring_.closed(side, now_us()));
}

void Watch::say(Ring::Sends const& sends) {
  for (auto const& send : sends)
    link(send.to).send({.kind = Frame::Kind::ring,
                        .rank = rank_,
                        .said = send.message.kind,
                        .loss = send.message.loss});
}

// A connection that is closed with unread data may lose the last messages: so both sides read to
// the end.
void Watch::part() {
  Time const deadline = now_us() + options_.silence_us;
  links_.left.end_sending();
  links_.right.end_sending();
  for (;;) {
    bool heard_all = true;
    for (Side const side : {Side::left, Side::right}) {
      if (!link(side).is_open()) continue;
      while (link(side).receive()) continue;
      if (link(side).has_ended()) {
        events_.remove(link(side).socket());
        link(side).close();
      }
      heard_all &= !link(side).is_open();
    }
    Time const left = deadline - now_us();
    if (heard_all || left <= 0) return;
    events_.wait(left);
  }
}

void Watch::end() {
  for (Side const side : {Side::left, Side::right})
    while (link(side).is_open() && link(side).receive()) continue;
  bool const has_left = ring_.loss()->how == RingLoss::How::left;
  if (has_left && is_spared_.load(sync::relaxed))
    return is_left_behind_.store(true, sync::relaxed);
  write_loss();
  // The launcher ends all ranks when the first one ends, and others have more to say.
  if (has_left) std::this_thread::sleep_for(time_for_last_words);
  std::_Exit(1);
}

void Watch::write_loss() noexcept {
  if (std::exchange(has_written_, true)) return;
  RingLoss const loss = *ring_.loss();
  auto const host = [this](int rank) {
    auto const r = static_cast<std::size_t>(rank);
    return r < cards_.size() ? cards_[r].host.data() : "?";
  };
  double const silent = static_cast<double>(loss.silent_us) / second;
  std::array<char, 320> line;
  std::array<char, 64> how;
  if (loss.how == RingLoss::How::ended)
    std::snprintf(how.data(), how.size(), "has ended without a word (silent for %.1f s)", silent);
  else if (loss.how == RingLoss::How::silent)
    std::snprintf(how.data(), how.size(), "has been silent for %.1f s", silent);
  else
    std::snprintf(how.data(), how.size(), "has ended its session while others are in a run");
  int const length =
      loss.rank == rank_  // it was stopped, and goes on
          ? std::snprintf(line.data(), line.size(),
                          "nigh: rank %d on %s was silent for %.1f s: the others end, and so does it\n",
                          rank_, host(rank_), silent)
          : std::snprintf(line.data(), line.size(), "nigh: rank %d on %s %s; rank %d on %s ends\n",
                          loss.rank, host(loss.rank), how.data(), rank_, host(rank_));
  platform::write_last({line.data(), static_cast<std::size_t>(length)});
}

}  // namespace nigh::cluster
