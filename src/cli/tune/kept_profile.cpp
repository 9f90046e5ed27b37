// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/kept_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/tune/others_use.hpp"
#include "json/bounded.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

constexpr json::Limits profile_limits{1 << 20, 8};  // those of nigh run --profile

// The interval, as costs: less is better.
struct Costs {
  double low, high;

  explicit Costs(Measurement const& m)
      : low(m.is_maximized ? 1 / m.high : m.low), high(m.is_maximized ? 1 / m.low : m.high) {}
};

std::string runs_text(int runs) { return runs > 1 ? fmt::format("{} runs", runs) : "a single run"; }

// Others had more of the machine while this one was measured, by enough to be in its way. Metrics of
// the program's own are taken as they are.
bool is_busier(Measurement const& m, Measurement const& than) {
  if (m.metric != "time" || !m.others_cpus || !than.others_cpus) return false;
  return is_busy(*m.others_cpus - *than.others_cpus, std::max(m.cpus, than.cpus));
}

// Of two with different load. Load only slows: a configuration that is better nevertheless is better.
OldProfile fate_by_load(Measurement const& old, Measurement const& fresh) {
  using enum OldProfile::Fate;
  Costs const before(old), now(fresh);
  auto const loads = fmt::format("others kept {:.1f} cpus busy while it was measured, and {:.1f} now",
                                 *old.others_cpus, *fresh.others_cpus);
  if (is_busier(fresh, old)) {
    if (now.high < before.low && fresh.runs > 1) return {};
    bool const is_worth_less = old.runs == 1 && fresh.runs > 1;
    return {is_worth_less ? moved : kept, loads};
  }
  bool const is_better_still = before.high < now.low;
  bool const is_worth_more = old.runs > 1 && fresh.runs == 1;
  return {is_better_still || is_worth_more ? kept : moved, loads};
}

std::optional<nlohmann::json> parsed(std::string const& profile) {
  auto read = json::read(profile, profile_limits);
  if (!read || !read->is_object() || !read->contains("nigh_profile")) return std::nullopt;
  return std::move(read).value();
}

Measurement measurement_of(nlohmann::json const& json) {
  Measurement m;
  m.words = json.at("command").get<std::vector<std::string>>();
  m.binary = std::stoull(json.at("binary").get<std::string>(), nullptr, 16);
  m.metric = json.at("metric").get<std::string>();
  m.is_maximized = json.value("maximize", false);
  m.value = json.at("value").get<double>();
  m.low = json.at("interval").at(0).get<double>();
  m.high = json.at("interval").at(1).get<double>();
  m.runs = json.at("runs").get<int>();
  m.is_sure = json.at("sure").get<bool>();
  if (json.contains("others_cpus")) m.others_cpus = json["others_cpus"].get<double>();
  m.cpus = json.value("cpus", 0);
  m.date = json.value("date", "");
  return m;
}

}  // namespace

std::string with_measurement(std::string const& profile, Measurement const& measured) {
  auto json = nlohmann::ordered_json::parse(profile);
  auto& m = json["measured"] = nlohmann::ordered_json::object();
  m["command"] = measured.words;
  m["binary"] = fmt::format("{:x}", measured.binary);
  m["metric"] = measured.metric;
  if (measured.is_maximized) m["maximize"] = true;
  m["value"] = measured.value;
  m["interval"] = {measured.low, measured.high};
  m["runs"] = measured.runs;
  m["sure"] = measured.is_sure;
  if (measured.others_cpus) {
    m["others_cpus"] = *measured.others_cpus;
    m["cpus"] = measured.cpus;
  }
  m["date"] = measured.date;
  constexpr auto any_bytes = nlohmann::ordered_json::error_handler_t::replace;  // in arguments
  return json.dump(2, ' ', false, any_bytes) + '\n';
}

std::optional<Measurement> measurement_in(std::string const& profile) {
  auto const json = parsed(profile);
  if (!json || !json->contains("measured")) return std::nullopt;
  try {
    return measurement_of((*json)["measured"]);
  } catch (std::exception const&) {
    return std::nullopt;  // somebody has written it by hand: there is nothing to compare
  }
}

OldProfile fate_of(std::optional<Measurement> const& old, Measurement const& fresh,
                   bool are_alike) {
  using enum OldProfile::Fate;
  if (!old) return {moved, "it does not say how it was measured"};
  if (!are_alike) return {moved, "it is of another machine"};
  if (old->words != fresh.words) return {moved, "it is of another command"};
  if (old->binary != fresh.binary) return {moved, "the program has changed since"};
  if (old->metric != fresh.metric || old->is_maximized != fresh.is_maximized)
    return {moved, "it is by another metric"};
  Costs const before(*old), now(fresh);
  if (is_busier(fresh, *old) || is_busier(*old, fresh)) return fate_by_load(*old, fresh);
  if (now.high < before.low && fresh.runs > 1) return {};
  if (before.high < now.low)
    return {kept, fmt::format("its {:.4g} is better than {:.4g} beyond the spread", old->value,
                              fresh.value)};
  if (old->runs > fresh.runs)
    return {kept, fmt::format("it is from {}, this one from {}", runs_text(old->runs),
                              runs_text(fresh.runs))};
  if (old->is_sure && !fresh.is_sure) return {kept, "it is sure, and this one is not"};
  return {};
}

std::string name_beside(std::string const& file, std::string const& which) {
  fs::path const path(file);
  auto const name = path.stem().string() + '.' + which + path.extension().string();
  return (path.parent_path() / name).string();
}

namespace {

std::optional<std::string> profile_in(std::string const& file) {
  auto there = json::read_file(file, profile_limits.bytes);
  if (!there || !parsed(*there)) return std::nullopt;
  return std::move(there).value();
}

// An empty file is none.
bool holds_something(std::string const& file) {
  std::error_code failed;
  return file != "-" && fs::is_regular_file(file, failed) && fs::file_size(file, failed) > 0;
}

// The name beside the file that is free, or holds a profile if such a one may go: numbered from the
// second on.
std::string free_name_beside(std::string const& file, std::string const& which,
                             bool replaces_profiles) {
  for (int n = 1;; ++n) {
    auto name = name_beside(file, n == 1 ? which : fmt::format("{}.{}", which, n));
    std::error_code failed;
    bool const is_there = fs::exists(fs::symlink_status(name, failed));
    if (!is_there || (replaces_profiles && profile_in(name))) return name;
  }
}

}  // namespace

bool holds_no_profile(std::string const& file) {
  return holds_something(file) && !profile_in(file);
}

std::string write_profile(std::string const& file, std::string const& profile,
                          Measurement const& measured, bool is_forced) {
  auto const text = with_measurement(profile, measured);
  if (is_forced || !holds_something(file)) {
    write_output(file, text);
    return file;
  }
  auto const old = profile_in(file);
  if (!old) {
    auto const beside = free_name_beside(file, "new", true);
    write_output(beside, text);
    say("tune",
        fmt::format("{} is kept, for it is no profile. The new one is in {}", file, beside));
    return beside;
  }
  bool const are_alike = parsed(*old)->value("machine", nlohmann::json()) ==
                         nlohmann::json::parse(profile).value("machine", nlohmann::json());
  auto const [fate, why] = fate_of(measurement_in(*old), measured, are_alike);
  bool const is_kept = fate == OldProfile::Fate::kept;
  auto const other = free_name_beside(file, is_kept ? "new" : "old", is_kept);
  if (fate == OldProfile::Fate::kept) {
    write_output(other, text);
    say("tune",
        fmt::format("{} is kept: {}. This one is in {}; --force replaces it", file, why, other));
    return other;
  }
  if (fate == OldProfile::Fate::moved) {
    write_output(other, *old);
    say("tune", fmt::format("the {} that was there is now {}: {}", file, other, why));
  }
  write_output(file, text);
  return file;
}

}  // namespace nigh::cli
