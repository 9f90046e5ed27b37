// SPDX-License-Identifier: Apache-2.0
#pragma once
// Well-behaved programs: the real client (src/coordinator/client), and around it what a program
// with parallel regions does: serial phases, several threads that begin regions, fork(), closing
// descriptors that are not its own, ending at any moment.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "coordinator/client/lease_client.hpp"
#include "simulation/invariants.hpp"

namespace simulation {

class Programs {
 public:
  static constexpr unsigned first_user = 1000;
  // `is_besieged`: all are one user's, and may use all cpus.
  Programs(Host& host, Invariants& invariants, bool has_quotas, bool is_besieged)
      : host_(host), invariants_(invariants), has_quotas_(has_quotas), is_besieged_(is_besieged) {}

  // Begins one.
  void come();
  int count() const noexcept { return static_cast<int>(all_.size()); }
  // Any one that lives, or null.
  Process* any() const;
  void kill(Process& process);
  void server_is_new();
  // The server has read a request that waits for ever.
  void note_patient_request(int program);

 private:
  static constexpr std::size_t most_clients = 3;

  // As fork() copies it. Its objects are never destroyed unless the program ends in order: what a
  // killed one leaves behind, its process has.
  struct Image {
    alignas(nigh::coordinator::ClientConnection)
        std::byte program[sizeof(nigh::coordinator::ClientConnection)];
    alignas(nigh::coordinator::LeaseClient)
        std::array<std::byte[sizeof(nigh::coordinator::LeaseClient)], most_clients> clients;
  };
  struct One {
    Process* process = nullptr;
    std::unique_ptr<Image> image = std::make_unique<Image>();
    std::array<Member, most_clients> members{};
    std::size_t clients = 1;
    bool is_brief = true;
    bool is_runtime = false;  // nigh's own: it listens, and has no regions
    bool knows_all = true;
    bool is_child = false;
    Time longest_us = 0;  // of its regions
    Time ends_at = 0;
    nigh::coordinator::CpuSet allowed{};
    nigh::coordinator::JobRank rank{};
    std::size_t threads_left = 0;
    std::size_t closed = 0;  // its own connections
  };
  static nigh::coordinator::ClientConnection& program_of(One& one);
  static nigh::coordinator::LeaseClient& client_of(One& one, std::size_t index);

  One& add(Process& process);
  void remove(One& one);
  void join(One& one);
  void begin(One& one);
  void run_thread(One& one, std::size_t index);
  void run_runtime(One& one);
  void end(One& one, std::size_t index);
  nigh::coordinator::Demand some_demand(One const& one) const;
  bool enter(One& one, std::size_t index, bool exchanges);
  void leave(One& one, std::size_t index);
  void note(One& one, std::size_t index, nigh::coordinator::GrantedTeam const& team);
  void close_descriptors(One& one);
  void fork(One& one);

  Host& host_;
  Invariants& invariants_;
  bool has_quotas_;
  bool is_besieged_;
  std::vector<std::unique_ptr<One>> all_;
};

}  // namespace simulation
