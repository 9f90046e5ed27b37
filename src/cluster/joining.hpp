// SPDX-License-Identifier: Apache-2.0
#pragma once
// Agreements of ranks when a session starts, apart from their layout, before they have workers.
// Most of these are collective; where ranks cannot go on, rank 0 says why, and all end, code 2.

#include <cstdint>
#include <memory>
#include <nigh/cluster.hpp>
#include <vector>

#include "cluster/beats.hpp"
#include "cluster/engine.hpp"
#include "cluster/layout.hpp"
#include "cluster/transport.hpp"
#include "cluster/watch/watch.hpp"

namespace nigh::cluster {

// Whether tasks are run again when a rank is lost. If that was asked for and is impossible, rank 0
// says so. Not collective.
bool supervises(session_options const& options, Transport const& network);

// Collective. After how many nanoseconds a rank counts as silent; rank 0's environment decides for
// all.
std::int64_t agree_on_silence(Transport& network);

// Collective. The other ranks whose processes this one can watch: those of its host, and of its
// namespace of process numbers.
std::vector<RankProcess> processes_of_this_host(Transport& network, Layout const& layout);

// Collective. The watch over ranks that cannot go on without one another.
std::unique_ptr<Watch> watch_over(Transport& network);

// Collective. Options of this rank's workers: on its share of the cpus, and named in traces.
runtime_options workers_of(session_options const& options, Transport& network,
                           Layout const& layout);

EnginePolicies policies_of(session_options const& options, bool is_supervised,
                           std::int64_t silence_ns);

// If verbose, rank 0 says where a host's ranks have more workers than cpus.
void tell_of_crowd(Layout const& layout);

}  // namespace nigh::cluster
