// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-1 (FIPS 180-4) of the two short messages that UTS needs; both fit into one block.

#include <array>
#include <cstdint>

namespace uts {

using Digest = std::array<std::uint32_t, 5>;  // as numbers; the standard's bytes are big-endian

// Of these five words, and one more: 24 bytes.
Digest sha1(Digest const& words, std::uint32_t last) noexcept;

// Of 16 zero bytes, and one word: 20 bytes.
Digest sha1_of_seed(std::uint32_t seed) noexcept;

}  // namespace uts
