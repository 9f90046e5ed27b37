// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network of several ranks in one thread: messages between two ranks keep their order, as MPI's
// do; otherwise they arrive in whatever order a seed says, however late. A rank may be lost.

#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "cluster/transport.hpp"

namespace nigh::tests {

class ScriptedNetwork {
 public:
  explicit ScriptedNetwork(int ranks)
      : ranks_(ranks), queues_(index(ranks, 0)), is_lost_(static_cast<std::size_t>(ranks)) {
    for (int r = 0; r < ranks; ++r) ends_.push_back(std::make_unique<End>(*this, r));
  }

  cluster::Transport& end(int rank) { return *ends_[static_cast<std::size_t>(rank)]; }
  std::size_t sent() const { return sent_; }
  std::size_t under_way() const {
    std::size_t n = 0;
    for (auto const& q : queues_) n += q.size();
    return n;
  }

  // Nothing goes there from now on; of what it has sent to each rank, the first few still arrive.
  template <class Random>
  void lose(int rank, Random& random) {
    is_lost_[static_cast<std::size_t>(rank)] = true;
    for (int other = 0; other < ranks_; ++other) {
      queue(other, rank).clear();
      auto& sent = queue(rank, other);
      sent.resize(random() % (sent.size() + 1));
    }
  }

  // One message for `to`, of a sender drawn at random.
  struct Arrived {
    int from = -1;
    cluster::bytes message;
  };
  template <class Random>
  Arrived next_for(int to, Random& random) {
    std::vector<int> senders;
    for (int from = 0; from < ranks_; ++from)
      if (!queue(from, to).empty()) senders.push_back(from);
    if (senders.empty()) return {};
    auto const from = senders[random() % senders.size()];
    Arrived got{from, std::move(queue(from, to).front())};
    queue(from, to).pop_front();
    return got;
  }

 private:
  struct End final : cluster::Transport {
    End(ScriptedNetwork& net_, int rank_) : net(net_), self(rank_) {}
    int rank() const noexcept override { return self; }
    int ranks() const noexcept override { return net.ranks_; }
    std::string name() const override { return "a script"; }
    bool is_funneled() const noexcept override { return false; }
    bool survivors_go_on() const noexcept override { return true; }
    void send(int to, cluster::byte_view message) override {
      ++net.sent_;
      if (net.is_lost_[static_cast<std::size_t>(to)]) return;
      net.queue(self, to).emplace_back(message.begin(), message.end());
    }
    Arrived receive() override { return {}; }
    std::vector<cluster::bytes> gather(cluster::byte_view) override { return {}; }
    void finish() override {}
    ScriptedNetwork& net;
    int self;
  };

  std::size_t index(int from, int to) const { return static_cast<std::size_t>(from * ranks_ + to); }
  std::deque<cluster::bytes>& queue(int from, int to) { return queues_[index(from, to)]; }

  int ranks_;
  std::vector<std::deque<cluster::bytes>> queues_;  // [from x ranks + to]
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<bool> is_lost_;
  std::size_t sent_ = 0;
};

}  // namespace nigh::tests
