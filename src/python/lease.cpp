// SPDX-License-Identifier: Apache-2.0
// A lease of the whole process: one connection, and one lease on it. The module sees to it that
// calls follow one another, other than those of nigh_lease_wait() and nigh_lease_ring().

#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "coordinator/client/job_rank.hpp"
#include "coordinator/client/lease_client.hpp"
#include "platform/bell.hpp"
#include "platform/limits.hpp"
#include "platform/program.hpp"
#include "platform/service.hpp"
#include "platform/thread.hpp"
#include "python/nigh-python.h"

using nigh::coordinator::ClientConnection;
using nigh::coordinator::CpuSet;
using nigh::coordinator::Demand;
using nigh::coordinator::LeaseClient;

struct nigh_lease {
  ClientConnection connection{};
  LeaseClient client{connection};
  nigh::platform::Bell bell{};
  bool was_joined = false;
  bool has_lease = false;
};

namespace {

// The block of a program that holds the lease is no region.
constexpr nigh::coordinator::RegionId whole_process = 0;

// The connections that a child of fork() must close, or the coordinator would not see its parent
// die.
struct Living {
  std::mutex lock;
  std::set<nigh_lease*> all;
};
Living& living() {
  static auto& one = *new Living;  // leases may outlive the program's statics
  return one;
}

void in_child() {
  for (auto* const lease : living().all) {
    lease->connection.drop();
    lease->bell.drop();
  }
  living().all.clear();
  living().lock.unlock();
}

void look_at_forks() {
  static bool const looks = [] {
    nigh::platform::at_fork([] { living().lock.lock(); }, [] { living().lock.unlock(); }, in_child);
    return true;
  }();
  static_cast<void>(looks);
}

}  // namespace

nigh_lease* nigh_lease_open(char const* socket, char const* name, int const* cpus, size_t count) {
  try {
    look_at_forks();
    auto lease = std::make_unique<nigh_lease>();
    if (!lease->bell.is_in_order()) return nullptr;
    CpuSet allowed;
    for (size_t i = 0; i < count; ++i)
      if (0 <= cpus[i] && cpus[i] < nigh::coordinator::max_cpus) allowed.add(cpus[i]);
    {
      std::lock_guard const guard(living().lock);
      living().all.insert(lease.get());
    }
    lease->was_joined = lease->connection.join(
        {.socket = socket,
         .name = name,
         .allowed = allowed,
         .rank = nigh::coordinator::rank_in_job(
             std::getenv, static_cast<std::uint64_t>(nigh::platform::parent_process_id())),
         .listens = true,
         .waits_briefly = true});
    return lease.release();
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

int nigh_lease_obtain(nigh_lease* lease, unsigned threads, int* cpus, unsigned room,
                      char const** why) {
  auto const team = lease->client.exchange(whole_process, Demand{threads, threads});
  lease->has_lease = team.size > 0;
  // The coordinator that granted may be gone by now, which is news not yet told.
  lease->was_joined = lease->has_lease || lease->connection.is_joined();
  if (!lease->has_lease) *why = to_string(team.fallback);
  unsigned granted = 0;
  for (; granted < team.size && granted < room; ++granted) cpus[granted] = team.cpus[granted];
  return static_cast<int>(granted);
}

int nigh_lease_socket(nigh_lease* lease) { return lease->connection.socket(); }

void nigh_lease_wait(nigh_lease* lease, int socket, int64_t timeout_us) {
  lease->bell.wait(socket, timeout_us < 0 ? std::nullopt : std::optional(timeout_us));
}

void nigh_lease_ring(nigh_lease* lease) { lease->bell.ring(); }

int nigh_lease_news(nigh_lease* lease) {
  enum { none, asked, gone };
  lease->connection.look();
  if (!lease->connection.is_joined()) {
    lease->has_lease = false;
    return std::exchange(lease->was_joined, false) ? gone : none;
  }
  return lease->has_lease && !lease->client.is_kept() ? asked : none;
}

void nigh_lease_close(nigh_lease* lease) {
  if (lease == nullptr) return;
  {
    std::lock_guard const guard(living().lock);
    living().all.erase(lease);
  }
  delete lease;
}

char const* nigh_private_directory() {
  try {
    static thread_local std::string last;
    last = nigh::platform::private_directory().string();
    return last.c_str();
  } catch (std::exception const&) {
    return nullptr;
  }
}

double nigh_cpu_quota() {
  try {
    return nigh::platform::read_limits().cpu_quota.value_or(0);
  } catch (std::exception const&) {
    return 0;
  }
}
