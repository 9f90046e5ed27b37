// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <nigh/spread.hpp>

namespace nigh {

result<spread> parse_spread(std::string_view text) {
  if (text == "auto") return spread::automatic;
  if (text == "all") return spread::all;
  int workers = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (failed != std::errc() || end != text.data() + text.size() || workers < 1)
    return error{'"' + std::string(text) + "\" is no spread: auto, all, or a number of workers"};
  return spread(workers);
}

std::string to_string(spread s) {
  if (s.is_automatic()) return "auto";
  return s == spread::all ? "all" : std::to_string(s.workers());
}

}  // namespace nigh
