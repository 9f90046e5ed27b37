// SPDX-License-Identifier: Apache-2.0
#pragma once
// How do a rank and its neighbours in the ring become connected?
//
// Each rank listens, and tells all others where. Then each tries all addresses of its right
// neighbour at once, and takes the first connection over which that rank of that job greets it:
// only trying tells which interfaces lead anywhere. Ranks that share a network try loopback, too.

#include <array>
#include <cstdint>
#include <vector>

#include "cluster/watch/link.hpp"
#include "platform/network.hpp"

namespace nigh::cluster {

// The facts about a rank that all ranks are told. Plain bytes: a transport need not know their
// meaning.
struct Card {
  std::uint64_t job = 0, secret = 0;  // rank 0's counts
  std::int64_t silence_us = 0;        // rank 0's counts; negative: invalid
  std::array<char, 64> host{};
  std::array<char, 128> network{};
  std::array<platform::NetworkAddress, 16> addresses{};
  std::uint32_t address_count = 0;
  std::uint16_t port = 0;  // 0: it cannot be connected to
};

class Meeting {
 public:
  Meeting();  // listens
  Meeting(Meeting&&) = delete;
  ~Meeting();

  Card card() const;  // the facts that concern the network

  // Until this time at the latest, in microseconds of now_us(). A link that could not be connected
  // is not open.
  struct Links {
    Link left, right;
  };
  Links connect(int rank, std::vector<Card> const& cards, Time deadline) const;

 private:
  int listener_;
};

Time now_us();

}  // namespace nigh::cluster
