// SPDX-License-Identifier: Apache-2.0
// The refusals of loops and algorithms: here, so that not every program compiles them with the headers.

#include <nigh/detail/loop.hpp>
#include <stdexcept>
#include <string>

namespace nigh::detail {

void refuse_negative(long long first, unsigned long long last) {
  throw std::invalid_argument("a loop over unsigned indices begins at " + std::to_string(first) + " and ends at " +
                              std::to_string(last));
}

void refuse_box() { throw std::invalid_argument("a loop's box holds more elements than 64 bits can count"); }

void refuse_lengths(char const* what, std::size_t count, char const* into, std::size_t other) {
  throw std::invalid_argument(std::string(what) + " of " + std::to_string(count) + " elements " + into + ' ' +
                              std::to_string(other));
}

}  // namespace nigh::detail
