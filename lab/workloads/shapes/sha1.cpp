// SPDX-License-Identifier: Apache-2.0
// Without the processor's SHA instructions, even where it has them: the size of UTS's tasks is part
// of the benchmark, and what others have published of it was measured so.
#include "shapes/sha1.hpp"

#include <bit>

namespace uts {

namespace {

using Block = std::array<std::uint32_t, 16>;

Digest compress(Block w) noexcept {
  constexpr Digest start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  auto [a, b, c, d, e] = start;
  auto const round = [&](std::uint32_t mixed, std::uint32_t constant, std::uint32_t word) {
    std::uint32_t const next = std::rotl(a, 5) + mixed + e + constant + word;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  auto const word = [&w](unsigned t) {
    if (t >= 16)
      w[t % 16] = std::rotl(w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ w[t % 16], 1);
    return w[t % 16];
  };
#pragma GCC unroll 20
  for (unsigned t = 0; t < 20; ++t) round((b & c) | (~b & d), 0x5a827999, word(t));
#pragma GCC unroll 20
  for (unsigned t = 20; t < 40; ++t) round(b ^ c ^ d, 0x6ed9eba1, word(t));
#pragma GCC unroll 20
  for (unsigned t = 40; t < 60; ++t) round((b & c) | (b & d) | (c & d), 0x8f1bbcdc, word(t));
#pragma GCC unroll 20
  for (unsigned t = 60; t < 80; ++t) round(b ^ c ^ d, 0xca62c1d6, word(t));
  return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

constexpr std::uint32_t end_of_message = 0x80000000;

}  // namespace

Digest sha1(Digest const& words, std::uint32_t last) noexcept {
  return compress({words[0], words[1], words[2], words[3], words[4], last, end_of_message, 0, 0, 0,
                   0, 0, 0, 0, 0, 24 * 8});
}

Digest sha1_of_seed(std::uint32_t seed) noexcept {
  return compress({0, 0, 0, 0, seed, end_of_message, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 * 8});
}

}  // namespace uts
