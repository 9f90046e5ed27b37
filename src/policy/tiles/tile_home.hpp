// SPDX-License-Identifier: Apache-2.0
#pragma once
// TileHome: in which locality queue does a tile wait? In one of the domain where its middle lies: a
// domain's planes are dealt out to its queues in blocks, as planes are to domains.

#include <cstddef>

namespace nigh::policy {

// The index, among so many domains, of a plane, in blocks over them.
inline std::size_t block_of_plane(std::size_t plane, std::size_t planes,
                                  std::size_t domains) noexcept {
  return plane * domains / planes;
}

// The index of its queue among those of its domain.
inline std::size_t queue_of_plane(std::size_t plane, std::size_t planes, std::size_t domains,
                                  std::size_t queues) noexcept {
  return plane * domains * queues / planes % queues;
}

}  // namespace nigh::policy
