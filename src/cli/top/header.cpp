// SPDX-License-Identifier: Apache-2.0
// The state of the host, in as few rows as the width allows.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/top/layout.hpp"
#include "base/counted.hpp"

namespace nigh::cli::top {
namespace {

struct Fact {
  std::string text;
  Style style = {};
};

std::string up_text(std::uint64_t us) {
  auto const s = us / 1'000'000;
  if (s < 86'400) return fmt::format("up {}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("up {} d {:02}:{:02}", s / 86'400, s / 3600 % 24, s / 60 % 60);
}

std::string energy_of(Sample const& sample) {
  auto const& host = sample.status->host;
  if (host.measures_energy == 0) return "energy: not available here";
  auto const total = energy_text(host.energy_uj);
  return sample.rates ? fmt::format("energy {:.1f} W, {}", sample.rates->watts, total)
                      : "energy " + total;
}

// "A B under a quota of 1.5 cpus"
std::string quota_text(QuotaShare const& share, Letters const& letters) {
  std::string who;
  for (auto const program : share.programs)
    who += (who.empty() ? "" : " ") + std::string(1, letters.of(program));
  return fmt::format("{} under a quota of {:.3g} {}", who, share.cpus,
                     share.cpus == 1 ? "cpu" : "cpus");
}

std::vector<Fact> facts_of(Sample const& sample, Letters const& letters) {
  auto const& host = sample.status->host;
  std::vector<Fact> facts{{base::counted(host.cpus, "cpu") + fmt::format(", {} free", host.free)}};
  if (auto const n = host.external_load.count(); n > 0)
    facts.push_back({fmt::format("{} busy with others (#)", n), {Ink::warning}});
  if (host.has_unseen_load != 0 && host.free < host.cpus)
    facts.push_back({"others on leased cpus", {Ink::warning}});
  facts.push_back({base::counted(host.programs, "program")});
  for (auto const& share : sample.quotas)
    facts.push_back({quota_text(share, letters), {Ink::warning}});
  facts.push_back({base::counted(host.waiting, "request") + (host.waiting == 1 ? " waits" : " wait"),
                   {host.waiting > 0 ? Ink::warning : Ink::plain}});
  if (sample.rates) {
    facts.push_back({fmt::format("leases {:.1f}/s granted, {:.1f}/s asked back",
                                 sample.rates->grants, sample.rates->revocations)});
  } else {
    facts.push_back(
        {fmt::format("{} granted, {} asked back",
                     base::counted(static_cast<std::uint32_t>(host.grants), "lease"), host.revocations)});
  }
  facts.push_back({energy_of(sample)});
  return facts;
}

}  // namespace

Rows header_rows(Scene const& scene, View const* view, int width, int most) {
  auto const& sample = scene.sample;
  Rows rows(1);
  rows[0].add("nigh top", {Ink::strong});
  std::string right;
  if (view != nullptr)
    right = view->is_paused ? "paused (Z)" : fmt::format("every {:g} s", view->delay_s);
  int const room = width - rows[0].end() - 2 - (right.empty() ? 0 : 2 + width_of(right));
  auto where = sample.socket;
  if (sample.status) where += ", " + up_text(sample.status->host.up_us);
  rows[0].add_at(rows[0].end() + 2, cut_to(printable(where, scene.signs), room, scene.signs));
  if (room >= 0) rows[0].add_at(width - width_of(right), right, {Ink::faint});

  std::vector<Fact> facts;
  if (view != nullptr && !view->filter.empty())
    facts.push_back({"only \"" + view->filter + "\"", {Ink::warning}});
  if (sample.status)
    for (Fact& fact : facts_of(sample, scene.letters)) facts.push_back(std::move(fact));
  else
    facts.push_back(
        {fmt::format("no coordinator at {}: {}; waiting for one", sample.socket, sample.why_not),
         {Ink::warning}});
  rows.emplace_back();
  for (Fact const& fact : facts) {
    auto const text = cut_to(printable(fact.text, scene.signs), width, scene.signs);
    int at = rows.back().end() == 0 ? 0 : rows.back().end() + 3;
    if (at > 0 && at + width_of(text) > width) {
      if (static_cast<int>(rows.size()) == most) break;
      rows.emplace_back(), at = 0;
    }
    rows.back().add_at(at, text, fact.style);
  }
  return rows;
}

}  // namespace nigh::cli::top
