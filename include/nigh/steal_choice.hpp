// SPDX-License-Identifier: Apache-2.0
#pragma once
// How workers without tasks search: which victims they ask, and how many tasks they take.

#include <nigh/detail/cxx20.hpp>

#include <cstdint>

namespace nigh {

enum class victim_choice : std::uint8_t {
  random,        // any other worker, all equally likely
  ring,          // the next worker, then the one behind it, ...
  hierarchical,  // the nearest level first, at random within a level (paper: HotSLAW's HVS)
};

enum class chunk_choice : std::uint8_t {
  one,           // a fixed number, usually one
  half,          // half of what the victim has to give
  hierarchical,  // a fixed number near by, half at the topmost level (paper: HotSLAW's HCS)
};

}  // namespace nigh
