// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <string>
#include <string_view>

namespace nigh::base {

// "1 cpu", "2 cpus": for nouns whose plural ends in s.
std::string counted(std::integral auto n, std::string_view noun) {
  auto text = std::to_string(n) + ' ';
  text += noun;
  if (n != 1) text += 's';
  return text;
}

}  // namespace nigh::base
