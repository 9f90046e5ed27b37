// SPDX-License-Identifier: Apache-2.0
#include "cluster/watch/meeting.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "platform/event_set.hpp"
#include "platform/local_socket.hpp"
#include "platform/tcp.hpp"

namespace nigh::cluster {
namespace {

constexpr std::uint64_t the_listener = 1;  // links are 0
constexpr std::size_t most_tries = 64;

template <std::size_t size>
void copy(std::string const& text, std::array<char, size>& into) {
  std::copy_n(text.begin(), std::min(text.size(), size - 1), into.begin());
}

// One rank's part of the meeting, while it lasts.
class Attempt {
 public:
  Attempt(int rank, std::vector<Card> const& cards, platform::EventSet& events)
      : rank_(rank),
        cards_(cards),
        events_(events),
        left_rank_(neighbour(rank, static_cast<int>(cards.size()), Side::left)),
        right_rank_(neighbour(rank, static_cast<int>(cards.size()), Side::right)) {}

  void try_right_neighbour() {
    if (right_rank_ < 0) return;
    Card const& own = cards_[static_cast<std::size_t>(rank_)];
    Card const& other = cards_[static_cast<std::size_t>(right_rank_)];
    if (other.port == 0) return;
    if (own.network == other.network) open(platform::loopback_address, other.port);
    for (std::uint32_t i = 0; i < other.address_count; ++i) open(other.addresses[i], other.port);
  }
  void admit(int socket) {
    if (add(Link(socket), false))
      tries_.back().link.send({.kind = Frame::Kind::greeting, .job = cards_[0].job, .rank = rank_});
  }
  bool is_done() const {
    bool const hopes =
        std::any_of(tries_.begin(), tries_.end(), [](Try const& t) { return t.is_ours; });
    return (left_rank_ < 0 || links_.left.is_open()) &&
           (right_rank_ < 0 || links_.right.is_open() || !hopes);
  }
  bool has_room() const { return tries_.size() < most_tries; }
  void look() {
    std::erase_if(tries_, [this](Try& one) { return is_over(one); });
    if (links_.right.is_open()) std::erase_if(tries_, [](Try const& t) { return t.is_ours; });
  }
  Meeting::Links take() && { return std::move(links_); }

 private:
  struct Try {
    Link link;
    bool is_ours;  // we connect, to the right
  };

  void open(platform::NetworkAddress const& address, std::uint16_t port) {
    add(Link(platform::connect_tcp(address, port)), true);
  }
  bool add(Link link, bool is_ours) {
    if (!link.is_open() || !events_.add(link.socket(), 0)) return false;
    tries_.push_back({std::move(link), is_ours});
    return true;
  }

  // It has failed, or has become one of the two links.
  bool is_over(Try& one) {
    auto const frame = one.link.receive();
    if (!frame) return one.link.has_ended();
    auto const expected = one.is_ours ? Frame::Kind::greeting : Frame::Kind::choice;
    auto const job = one.is_ours ? cards_[0].job : cards_[0].secret;
    int const rank = one.is_ours ? right_rank_ : left_rank_;
    Link& link = one.is_ours ? links_.right : links_.left;
    if (frame->kind != expected || frame->job != job || frame->rank != rank || link.is_open())
      return true;
    link = std::move(one.link);
    if (one.is_ours)
      link.send({.kind = Frame::Kind::choice, .job = cards_[0].secret, .rank = rank_});
    return true;
  }

  int rank_;
  std::vector<Card> const& cards_;
  platform::EventSet& events_;
  int left_rank_, right_rank_;
  std::vector<Try> tries_;
  Meeting::Links links_;
};

}  // namespace

Time now_us() { return base::now_us(); }

Meeting::Meeting() : listener_(platform::listen_tcp()) {}

Meeting::~Meeting() { platform::close_descriptor(listener_); }

Card Meeting::card() const {
  Card card;
  copy(platform::host_name(), card.host);
  copy(platform::network_name(), card.network);
  auto const addresses = platform::network_addresses();
  card.address_count =
      static_cast<std::uint32_t>(std::min(addresses.size(), card.addresses.size()));
  std::copy_n(addresses.begin(), card.address_count, card.addresses.begin());
  if (listener_ >= 0) card.port = platform::tcp_port(listener_);
  return card;
}

Meeting::Links Meeting::connect(int rank, std::vector<Card> const& cards, Time deadline) const {
  auto events = platform::EventSet::make();
  if (!events || (listener_ >= 0 && !events->add(listener_, the_listener))) return {};
  Attempt attempt(rank, cards, *events);
  attempt.try_right_neighbour();
  while (!attempt.is_done()) {
    Time const left = deadline - now_us();
    if (left <= 0) break;
    auto const names = events->wait(left);
    if (std::find(names.begin(), names.end(), the_listener) != names.end())
      attempt.admit(platform::accept_tcp(listener_));
    attempt.look();
    if (!attempt.has_room()) break;
  }
  return std::move(attempt).take();
}

}  // namespace nigh::cluster
