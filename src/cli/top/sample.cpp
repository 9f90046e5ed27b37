// SPDX-License-Identifier: Apache-2.0
#include "cli/top/sample.hpp"

#include <cstddef>
#include <set>
#include <string_view>

namespace nigh::cli::top {
namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace

std::optional<Rates> rates_between(coordinator::HostStatus const& before,
                                   coordinator::HostStatus const& now) {
  auto const& then = before.host;
  if (now.host.up_us <= then.up_us || now.host.grants < then.grants) return std::nullopt;
  auto const seconds = static_cast<double>(now.host.up_us - then.up_us) / 1e6;
  auto const rate = [&](std::uint64_t a, std::uint64_t b) {
    return b < a ? 0 : static_cast<double>(b - a) / seconds;
  };
  Rates rates;
  rates.grants = rate(then.grants, now.host.grants);
  rates.revocations = rate(then.revocations, now.host.revocations);
  rates.watts = rate(then.energy_uj, now.host.energy_uj) / 1e6;
  std::map<std::uint32_t, std::uint64_t> granted;
  for (auto const& p : before.programs) granted[p.program] = p.granted;
  for (auto const& p : now.programs) rates.granted[p.program] = rate(granted[p.program], p.granted);
  return rates;
}

void Letters::give_to(coordinator::HostStatus const& status) {
  std::map<std::uint32_t, int> staying;
  std::set<int> taken;
  for (auto const& p : status.programs)
    if (auto const had = nth_.find(p.program); had != nth_.end()) {
      staying.insert(*had);
      taken.insert(had->second);
    }
  for (int next = 0; auto const& p : status.programs) {
    if (staying.contains(p.program)) continue;
    while (taken.contains(next)) ++next;
    taken.insert(next);
    staying[p.program] = next;
  }
  nth_ = std::move(staying);
}

char Letters::of(std::uint32_t program) const {
  auto const n = static_cast<std::size_t>(colour_of(program));
  return n < letters.size() ? letters[n] : '+';
}

int Letters::colour_of(std::uint32_t program) const {
  auto const found = nth_.find(program);
  return found == nth_.end() ? static_cast<int>(letters.size()) : found->second;
}

}  // namespace nigh::cli::top
