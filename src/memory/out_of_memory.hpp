// SPDX-License-Identifier: Apache-2.0
#pragma once
// A std::bad_alloc that says how much was asked for and how much there is.

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

namespace nigh::memory {

class OutOfMemory : public std::bad_alloc {
 public:
  // `reason`: what the system said, if it was asked.
  OutOfMemory(std::uint64_t asked_bytes, std::uint64_t available_bytes, std::string const& reason)
      : text_("out of memory: an array of " + std::to_string(asked_bytes) + " bytes asked, " +
              std::to_string(available_bytes) + " bytes available" +
              (reason.empty() ? "" : " (" + reason + ")")) {}
  char const* what() const noexcept override { return text_.what(); }

 private:
  std::runtime_error text_;  // a string that copies without throwing
};

}  // namespace nigh::memory
