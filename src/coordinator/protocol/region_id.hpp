// SPDX-License-Identifier: Apache-2.0
#pragma once
// The number of a region's code: 15 bits of the library's name above 48 bits of an address in its
// file.
//
//   bits 0 to 47    the code's address in its file, as addr2line takes it
//   bits 48 to 62   0: the program itself; else a hash of the library's name
//   bit 63          code that is in no file

#include <cstdint>

namespace nigh::coordinator {

using RegionId = std::uint64_t;

inline constexpr RegionId in_no_file = RegionId{1} << 63U;
inline constexpr unsigned address_bits = 48;

constexpr std::uint64_t address_of(RegionId region) noexcept {
  return region & ((std::uint64_t{1} << address_bits) - 1);
}

// The library's part: by its name in the file system, without folders; never 0. Another version
// under the same name counts as the same library.
constexpr std::uint32_t library_number(char const* name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3U;
  auto const number = static_cast<std::uint32_t>((hash ^ hash >> 30U) & 0x7fffU);
  return number == 0 ? 1 : number;
}

constexpr std::uint32_t library_of(RegionId region) noexcept {
  return static_cast<std::uint32_t>(region >> address_bits) & 0x7fffU;
}

constexpr RegionId region_in(std::uint32_t library, std::uint64_t address) noexcept {
  return RegionId{library} << address_bits | address_of(address);
}

static_assert(library_of(region_in(library_number("libm.so.6"), 0x1234)) ==
              library_number("libm.so.6"));
static_assert(address_of(in_no_file | 0x1234) == 0x1234);

}  // namespace nigh::coordinator
