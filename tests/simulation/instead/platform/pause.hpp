// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stands in for src/platform/pause.hpp: in the simulation, a loop that spins lets others run.

namespace nigh::sync {

inline constexpr int spins = 1;

void pause() noexcept;  // platform.cpp

inline void prefetch(void const*) noexcept {}
inline void prefetch_for_write(void const*) noexcept {}

}  // namespace nigh::sync
