// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ledger of who holds which cpus, kept from outside: by the messages that a coordinator sends and
// gets. Throws when a message breaks a promise.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/core/coordinator.hpp"

namespace nigh::test {

// Sets of cpus that make up a machine, ten apart from each other.
inline policy::CoreMap small_machine(std::vector<int> sizes) {
  policy::CoreMap::Parts parts;
  for (int s : sizes)
    for (int i = 0; i < s; ++i) parts.cpus.push_back(static_cast<int>(parts.cpus.size()));
  parts.between.assign(sizes.size(), std::vector<double>(sizes.size(), 10));
  parts.levels = {std::move(sizes)};
  parts.within = {1};
  return policy::CoreMap(std::move(parts));
}

class Ledger {
 public:
  struct Held {
    coordinator::Connection by = 0;
    coordinator::CpuTeam team;
    bool is_revoked = false;
  };

  // Before the coordinator is told: a release of somebody else's lease changes nothing.
  void note(coordinator::Event const& event) {
    using namespace coordinator;
    if (auto const* lost = std::get_if<Lost>(&event)) {
      std::erase_if(held_, [&](auto const& h) { return h.second.by == lost->connection; });
      alive_.erase(lost->connection);
    }
    auto const* received = std::get_if<Received>(&event);
    if (received == nullptr) return;
    if (auto const* release = std::get_if<Release>(&received->message))
      give_back(received->from, release->lease);
  }
  // After it was: what it answered to that.
  void note(coordinator::Event const& event, std::vector<coordinator::Send> const& sent) {
    using namespace coordinator;
    auto const* received = std::get_if<Received>(&event);
    auto const* request = received != nullptr ? std::get_if<Request>(&received->message) : nullptr;
    bool refused = false;
    for (Send const& s : sent) {
      auto const* refusal = std::get_if<Refusal>(&s.message);
      refused |= refusal != nullptr && received != nullptr && s.to == received->from;
    }
    if (request != nullptr && !refused) give_back(received->from, request->returned);
    for (Send const& s : sent) {
      if (std::holds_alternative<Welcome>(s.message)) alive_[s.to] = true;
      if (auto const* grant = std::get_if<Grant>(&s.message)) hold(s.to, *grant);
      if (auto const* revoke = std::get_if<Revoke>(&s.message)) ask_back(s.to, *revoke);
    }
  }

  std::map<coordinator::LeaseId, Held> const& held() const { return held_; }
  bool is_alive(coordinator::Connection c) const { return alive_.find(c) != alive_.end(); }

 private:
  static void require(bool kept, char const* promise) {
    if (!kept) throw std::runtime_error(std::string("broken: ") + promise);
  }
  void give_back(coordinator::Connection by, coordinator::LeaseId id) {
    auto const lease = held_.find(id);
    if (lease != held_.end() && lease->second.by == by) held_.erase(lease);
  }
  void hold(coordinator::Connection by, coordinator::Grant const& grant) {
    require(grant.is_valid(), "grants are in order");
    require(is_alive(by), "only the living are granted cpus");
    coordinator::CpuSet taken;
    for (auto const& [id, h] : held_)
      for (int t = 0; t < h.team.size(); ++t) taken.add(h.team[t]);
    for (int t = 0; t < grant.team.size(); ++t)
      require(!taken.has(grant.team[t]), "no cpu is granted twice");
    require(held_.emplace(grant.lease, Held{by, grant.team}).second, "a lease is new");
  }
  void ask_back(coordinator::Connection from, coordinator::Revoke const& revoke) {
    auto const lease = held_.find(revoke.lease);
    require(lease != held_.end() && lease->second.by == from, "who holds a lease is asked for it");
    if (revoke.reason == coordinator::Revoke::Reason::ended) {
      require(lease->second.is_revoked, "what ends has been asked back");
      held_.erase(lease);
      return;
    }
    require(!lease->second.is_revoked, "a lease is asked back once");
    lease->second.is_revoked = coordinator::is_for_good(revoke.reason);
  }

  std::map<coordinator::LeaseId, Held> held_;
  std::map<coordinator::Connection, bool> alive_;
};

}  // namespace nigh::test
