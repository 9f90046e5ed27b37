// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arrays that are alive, by address.

#include <cstdint>
#include <nigh/detail/export.hpp>

#include "memory/record.hpp"

namespace nigh::memory {

// The record of the array that holds p, or null. Any thread; it waits only when arrays come and go
// all the time. The record is valid as long as the array lives.
detail::placed_record const* array_at(void const* p) noexcept;

// Call these when a block of at least one byte begins and ends its life. The record must not move
// meanwhile.
void announce(detail::placed_record const& record);
void withdraw(detail::placed_record const& record) noexcept;

// Bytes of all live arrays together, touched or not.
std::uint64_t live_bytes() noexcept;

}  // namespace nigh::memory
