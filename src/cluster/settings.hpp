// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of a session: NIGH_* variables first, then its options.

#include <nigh/cluster.hpp>
#include <string>

namespace nigh::cluster {

struct Settings {
  session_options options;
  std::string switches;   // the text of the file of switches; rank 0 reads it for all
  std::string complaint;  // why it cannot be used; empty: it can
};

// For people: "hierarchical,4", or without the number where it does not matter or is 1.
std::string victims_of(session_options const& options);
std::string chunks_of(session_options const& options);

Settings settings_from_environment(session_options options, int rank);

}  // namespace nigh::cluster
