// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cpus of a machine in hardware order, as text, for a program that cannot look at the machine
// itself: between two cpus stands a sign for the largest set that they do not share.
//
//   @ package   / domain   : L3   , L2   . core   + of one core
//
//   2 packages of 2 cores of 2 cpus each     0+4,1+5@2+6,3+7

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "policy/spread/team_plan.hpp"

namespace nigh::settings {

struct CpuOrder {
  std::vector<policy::OrderedWorkers::Entry> entries;
  std::vector<int> cpus;  // [entry]
};

namespace detail {
inline constexpr std::string_view set_borders = "@/:,.+";  // by policy::OrderedWorkers::Set
}

inline std::string cpu_order_text(policy::OrderedWorkers const& ordered, std::vector<int> const& cpu_of) {
  std::string text;
  policy::OrderedWorkers::Entry const* before = nullptr;
  for (auto const& entry : ordered.all()) {
    std::size_t shared = 0;
    if (before != nullptr) {
      while (shared < policy::OrderedWorkers::sets && entry.in[shared] == before->in[shared]) ++shared;
      text += detail::set_borders[shared];
    }
    text += std::to_string(cpu_of[static_cast<std::size_t>(entry.worker)]);
    before = &entry;
  }
  return text;
}

// Nothing: the text is no cpu order.
inline std::optional<CpuOrder> parse_cpu_order(std::string_view text) {
  CpuOrder all;
  policy::OrderedWorkers::Entry entry{};
  for (;;) {
    int cpu = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), cpu);
    if (failed != std::errc() || cpu < 0) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    entry.domain = entry.in[policy::OrderedWorkers::domain];
    all.entries.push_back(entry);
    all.cpus.push_back(cpu);
    if (text.empty()) return all;
    auto const border = detail::set_borders.find(text.front());
    if (border == detail::set_borders.npos) return {};
    for (auto s = border; s < policy::OrderedWorkers::sets; ++s) ++entry.in[s];
    text.remove_prefix(1);
  }
}

}  // namespace nigh::settings
