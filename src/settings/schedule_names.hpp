// SPDX-License-Identifier: Apache-2.0
#pragma once
// Schedules as words: "static", "static,16", "dynamic,4", "guided", "adaptive", "local".

#include <charconv>
#include <cstddef>
#include <nigh/schedule.hpp>
#include <string>
#include <string_view>

namespace nigh::settings {

struct ScheduleWords {
  schedule_kind kind = schedule_kind::adaptive;
  std::size_t chunk = 1;

  bool operator==(ScheduleWords const&) const = default;
};

inline result<ScheduleWords> parse_schedule(std::string_view text) {
  struct Name {
    std::string_view text;
    schedule_kind plain, chunked;
  };
  using kind = schedule_kind;
  static constexpr Name names[] = {{"static", kind::static_blocks, kind::static_chunks},
                                   {"dynamic", kind::dynamic, kind::dynamic},
                                   {"guided", kind::guided, kind::guided},
                                   {"adaptive", kind::adaptive, kind::adaptive},
                                   {"local", kind::local, kind::local}};
  auto const quoted = [](std::string_view what) { return '"' + std::string(what) + '"'; };
  auto const comma = text.find(',');
  auto const word = text.substr(0, comma);
  for (Name const& name : names) {
    if (name.text != word) continue;
    if (comma == std::string_view::npos) return ScheduleWords{name.plain, 1};
    if (name.plain == kind::adaptive || name.plain == kind::local)
      return error{"schedule " + quoted(text) + ": " + std::string(word) + " has no chunk"};
    auto const digits = text.substr(comma + 1);
    std::size_t chunk = 0;
    auto const [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), chunk);
    if (failure != std::errc{} || end != digits.data() + digits.size() || chunk == 0)
      return error{"schedule " + quoted(text) + ": " + quoted(digits) +
                   " is no positive number of iterations"};
    return ScheduleWords{name.chunked, chunk};
  }
  return error{"schedule " + quoted(text) + ": " + quoted(word) +
               " is none of static, dynamic, guided, adaptive, local"};
}

inline std::string to_string(schedule_kind kind, std::size_t chunk) {
  auto const with_chunk = [chunk](char const* name) {
    return name + ("," + std::to_string(chunk));
  };
  switch (kind) {
    case schedule_kind::static_blocks:
      return "static";
    case schedule_kind::static_chunks:
      return with_chunk("static");
    case schedule_kind::dynamic:
      return chunk == 1 ? "dynamic" : with_chunk("dynamic");
    case schedule_kind::guided:
      return chunk == 1 ? "guided" : with_chunk("guided");
    case schedule_kind::adaptive:
      return "adaptive";
    case schedule_kind::local:
      break;
  }
  return "local";
}

}  // namespace nigh::settings
