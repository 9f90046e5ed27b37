// SPDX-License-Identifier: Apache-2.0
#pragma once
// The number that identifies a file; never 0.

#include <cstddef>
#include <cstdint>

namespace nigh::platform {

class IdentityHash {  // FNV-1a
 public:
  void add(void const* data, std::size_t size) noexcept {
    auto const* const bytes = static_cast<unsigned char const*>(data);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3U;
  }
  std::uint64_t value() const noexcept { return value_ == 0 ? 1 : value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace nigh::platform
