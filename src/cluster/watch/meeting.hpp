// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a rank and its neighbours in the ring become connected.
//
// Each listens, and tells all others where. Then each tries all addresses of its right neighbour at
// once, and takes the first connection over which it is greeted by that rank of that job: which
// interfaces lead anywhere, trying tells. Ranks that share a network try loopback, too.

#include <array>
#include <cstdint>
#include <vector>

#include "cluster/watch/link.hpp"
#include "platform/network.hpp"

namespace nigh::cluster {

// The facts about a rank that all ranks are told. Plain bytes: a transport need not know their
// meaning.
struct Card {
  std::uint64_t job = 0, secret = 0;  // rank 0's count
  std::int64_t silence_us = 0;        // rank 0's counts; negative: it cannot be told
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

  Card card() const;  // without what is not about the network

  // At most until then, in microseconds of now_us(). What could not be connected is not open.
  struct Links {
    Link left, right;
  };
  Links connect(int rank, std::vector<Card> const& cards, Time deadline) const;

 private:
  int listener_;
};

Time now_us();

}  // namespace nigh::cluster
