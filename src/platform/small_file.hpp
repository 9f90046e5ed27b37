// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's small files, as those of /sys, for preloaded libraries: nothing is allocated.

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <span>

namespace nigh::platform {

// As much of the file as there is room for, with a zero at its end. False: it cannot be read.
inline bool read_small_file(char const* name, std::span<char> text) noexcept {
  int const file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  auto const bytes = read(file, text.data(), text.size() - 1);
  close(file);
  if (bytes <= 0) return false;
  text[static_cast<std::size_t>(bytes)] = '\0';
  return true;
}

// Calls each(number) for all numbers of a list such as "0-3,8", ascending.
template <class Each>
void for_each_in_list(char const* list, Each each) noexcept {
  for (char const* at = list; *at >= '0' && *at <= '9';) {
    char* end = nullptr;
    auto const first = strtoul(at, &end, 10);
    auto last = first;
    if (*end == '-') {
      at = end + 1;
      last = strtoul(at, &end, 10);
    }
    for (auto number = first; number <= last; ++number) each(number);
    at = *end == ',' ? end + 1 : end;
  }
}

}  // namespace nigh::platform
