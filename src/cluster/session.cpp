// SPDX-License-Identifier: Apache-2.0
// The public face of a rank.

#include <stdexcept>

#include "base/assert.hpp"
#include "cluster/agent.hpp"

namespace nigh::cluster {

session::session(std::unique_ptr<Transport> transport, session_options options) {
  if (agent.get() != nullptr)
    throw std::logic_error("nigh::cluster::session: there is one already");
  auto const rank = transport->rank();
  agent_ = std::make_unique<Agent>(std::move(transport),
                                   settings_from_environment(std::move(options), rank));
  agent.set(agent_.get());
}

// A child of fork() has neither the threads of the session nor a connection of its own.
session::~session() {
  if (agent_->is_of_this_process()) {
    Agent::leave_sections();
  } else {
    Agent::forget_sections();
    static_cast<void>(agent_.release());
  }
}

int session::rank() const noexcept { return agent_->rank(); }
int session::ranks() const noexcept { return agent_->ranks(); }
nigh::runtime& session::workers() noexcept { return agent_->workers(); }
void session::resize(int ranks) { agent_->resize(ranks); }
std::vector<int> session::working() const { return agent_->working(); }
rank_counters session::counters() const { return agent_->counters(); }

mpi_section::mpi_section() { Agent::begin_section(); }
mpi_section::~mpi_section() { Agent::end_section(); }

}  // namespace nigh::cluster
