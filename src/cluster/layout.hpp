// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where ranks are: on which hosts, switches and cpus, and how far from each other.

#include <nigh/cluster.hpp>
#include <nigh/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/settings.hpp"
#include "cluster/transport.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::cluster {

// One rank's place, as the others see it.
struct Place {
  std::string host;              // its name
  std::string kernel;            // the same for ranks that share a machine's cpus
  int domain = -1;               // the one with all its cpus; -1: there are several
  std::vector<int> cpus;         // the ones it may use, in the order in which workers take them
  std::string switch_name = {};  // the host's; empty: unknown
  int workers = 0;               // the number it asks for; 0: one for each cpu of its share
};

struct Layout {
  int self = 0;
  std::vector<Place> places;  // [rank]

  std::string who(int rank) const;  // "rank 2 on n3"
};

// A rank asks those of its domain, then of its host, of its switch, and then all others.
policy::VictimPlan plan_among_ranks(Layout const& layout);

// The cpus that a rank takes where others of its machine were given the same ones: its part of them
// in turn; or one, where there are fewer cpus than ranks.
std::vector<int> share_of_cpus(Layout const& layout);

// A line for the user about the first machine whose ranks have more workers than cpus, which then
// share cpus. Empty: there is none.
std::string crowd_in(Layout const& layout);

// Collective: every rank's place, and whether all ranks fit together. Where they do not, or one
// cannot do as it is told, rank 0 says so on standard error, and all end, code 2.
Layout meet(Transport& network, Place const& mine, Settings const& settings,
            std::string const& functions);

Place this_place(runtime_options const& workers);

// ---- switches: a file, or the launcher, says at which switch of the network a host is

// As Slurm tells each process: SLURM_TOPOLOGY_ADDR, "core.rack7.n12", and its pattern,
// "switch.switch.node". The result is the last switch before the host; empty: unknown.
std::string switch_from_slurm(char const* address, char const* pattern);

// The text of NIGH_SWITCHES's file: a host's name and its switch's on each line; '#' begins a
// comment. Other hosts, with or without their network domain, are at no known switch. An error
// names the line; then nothing is changed.
result<void> take_switches(Layout& layout, std::string_view text);

}  // namespace nigh::cluster
