// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learnt spreads as text that goes from one run of a program to the next: the file that
// NIGH_SPREADS names, with one entry for each site.
//
//   {"nigh_spreads": 1, "machine": "package:1 domain:1 l3:1 core:2 cpu:2", "sites": [
//   {"name": "sweep", "workers": 2, "spread": 2, "active": 2, "grain": 1, "seconds": 0.0123},
//   ...
//   ]}

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "policy/spread/spread_choice.hpp"

namespace nigh::settings {

// Of such a file: thousands of sites.
constexpr std::size_t largest_spreads = 1 << 20;
constexpr auto const* too_large_spreads = "is larger than 1 MB, and not used";

struct LearntSpread {
  std::string name;
  int workers = 0;  // there were
  policy::SpreadState found = {};
};

struct LearntSpreads {
  std::string machine;  // its shape
  std::vector<LearntSpread> sites = {};

  // Replaces the one of that name and number of workers, if any.
  void put(LearntSpread line) {
    std::erase_if(sites, [&](LearntSpread const& other) {
      return other.name == line.name && other.workers == line.workers;
    });
    sites.push_back(std::move(line));
  }
};

// Without quotes, backslashes and control characters.
inline bool is_site_name(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\' && c != '\x7f';
  });
}

inline std::string text_of(LearntSpreads const& file) {
  std::string text = R"({"nigh_spreads": 1, "machine": ")" + file.machine + R"(", "sites": [)";
  for (auto const& site : file.sites) {
    std::array<char, 32> seconds;
    auto const end =
        std::to_chars(seconds.data(), seconds.data() + seconds.size(), site.found.seconds);
    auto const& held = site.found.held;
    text += &site == file.sites.data() ? "\n" : ",\n";
    text += R"({"name": ")" + site.name + R"(", "workers": )" + std::to_string(site.workers) +
            R"(, "spread": )" + std::to_string(held.spread) + R"(, "active": )" +
            std::to_string(held.active) + R"(, "grain": )" + std::to_string(held.grain) +
            R"(, "seconds": )" + std::string(seconds.data(), end.ptr) + '}';
  }
  return text + "\n]}\n";
}

namespace detail {

// Text that is read from the front.
class SpreadReader {
 public:
  explicit SpreadReader(std::string_view text) : left_(text) {}

  bool skip(std::string_view what) {
    if (!left_.starts_with(what)) return false;
    left_.remove_prefix(what.size());
    return true;
  }
  // Up to the next quote.
  bool read(std::string& to) {
    auto const end = left_.find('"');
    if (end == left_.npos || !is_site_name(left_.substr(0, end))) return false;
    to = left_.substr(0, end);
    left_.remove_prefix(end);
    return true;
  }
  template <class Number>
  bool read(Number& to) {
    auto const [end, failed] = std::from_chars(left_.data(), left_.data() + left_.size(), to);
    if (failed != std::errc() || to < 0) return false;
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return true;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace detail

// Empty, or what is wrong with the text, to follow the file's name: "is ...".
inline std::string parse_spreads(std::string_view text, LearntSpreads& lines) {
  detail::SpreadReader in(text);
  int version = 0;
  if (!in.skip(R"({"nigh_spreads": )") || !in.read(version))
    return "is no file of spreads, and not used";
  if (version != 1)
    return "is of version " + std::to_string(version) + ", and not used: this nigh reads 1";
  auto const* const damaged = "is damaged, and not used";
  if (!in.skip(R"(, "machine": ")") || !in.read(lines.machine) || !in.skip(R"(", "sites": [)"))
    return damaged;
  while (!in.skip("\n]}\n")) {
    if (!lines.sites.empty() && !in.skip(",")) return damaged;
    LearntSpread site;
    auto& held = site.found.held;
    bool const whole = in.skip("\n{\"name\": \"") && in.read(site.name) &&
                       in.skip(R"(", "workers": )") && in.read(site.workers) &&
                       in.skip(R"(, "spread": )") && in.read(held.spread) &&
                       in.skip(R"(, "active": )") && in.read(held.active) &&
                       in.skip(R"(, "grain": )") && in.read(held.grain) &&
                       in.skip(R"(, "seconds": )") && in.read(site.found.seconds) && in.skip("}");
    if (!whole) return damaged;
    lines.sites.push_back(std::move(site));
  }
  return in.at_end() ? "" : damaged;
}

// The same, for a file that must be of this machine.
inline std::string parse_spreads(std::string_view text, std::string const& machine,
                                 LearntSpreads& lines) {
  auto why_not = parse_spreads(text, lines);
  if (why_not.empty() && lines.machine != machine)
    why_not = "is for another machine, and not used: " + lines.machine + ", this one is " + machine;
  return why_not;
}

}  // namespace nigh::settings
