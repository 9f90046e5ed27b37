// SPDX-License-Identifier: Apache-2.0
#include "coordinator/profile/region_profile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "json/bounded.hpp"

namespace nigh::coordinator {
namespace {

using Json = nlohmann::json;
using Written = nlohmann::ordered_json;
constexpr int format = 1;
constexpr json::Limits limits{largest_profile, 8};
constexpr std::size_t longest_text = 4096;
constexpr std::array<std::string_view, 3> sources{"learnt", "measured", "given"};

std::string text_of(Written const& json) {
  return json.dump(-1, ' ', false, Written::error_handler_t::replace);
}

std::string hex(std::uint64_t number, std::size_t digits) {
  std::array<char, 16> text;
  auto const end = std::to_chars(text.begin(), text.end(), number, 16).ptr;
  auto const length = static_cast<std::size_t>(end - text.begin());
  return std::string(digits > length ? digits - length : 0, '0').append(text.data(), length);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  auto const [end, failed] = std::from_chars(text.begin(), text.end(), number, 16);
  if (failed != std::errc() || end != text.end()) return std::nullopt;
  return number;
}

Written written(RegionProfile const& region) {
  Written json{{"id", region_name(region.id)}};
  if (!region.where.empty()) json["where"] = region.where;
  json["source"] = to_string(region.source);
  if (region.demand.is_known()) {
    json["maximum"] = region.demand.maximum;
    json["optimal"] = region.demand.optimal;
  }
  if (region.is_indifferent) json["indifferent"] = true;
  json["times"] = Written::array();
  for (auto const& t : region.times) {
    Written time{{"threads", t.threads}, {"median_ns", t.median_ns}, {"runs", t.runs}};
    if (t.spread_ns > 0) time["spread_ns"] = t.spread_ns;
    json["times"].push_back(std::move(time));
  }
  return json;
}

// Thrown within this file: the place in the text, and the error.
struct Wrong {
  std::string what;
};

std::string text_at(Json const& json, char const* name, bool must_be) {
  auto const found = json.find(name);
  if (found == json.end() && !must_be) return {};
  if (found == json.end() || !found->is_string()) throw Wrong{std::string(name) + " is no text"};
  auto text = found->get<std::string>();
  bool const is_clean = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (text.size() > longest_text || !is_clean)
    throw Wrong{std::string(name) + " is too long, or no plain text"};
  return text;
}

bool flag_at(Json const& json, char const* name) {
  auto const found = json.find(name);
  if (found == json.end()) return false;
  if (!found->is_boolean()) throw Wrong{std::string(name) + " is neither true nor false"};
  return found->get<bool>();
}

// 0 if it is missing and may be.
std::uint64_t number_at(Json const& json, char const* name, std::uint64_t most,
                        bool must_be = true) {
  auto const found = json.find(name);
  if (found == json.end() && !must_be) return 0;
  if (found == json.end() || !found->is_number_unsigned() || *found == 0 || *found > most)
    throw Wrong{std::string(name) + " is no number from 1 to " + std::to_string(most)};
  return found->get<std::uint64_t>();
}

Json const& list_at(Json const& json, char const* name, std::size_t most) {
  auto const found = json.find(name);
  if (found == json.end() || !found->is_array() || found->size() > most)
    throw Wrong{std::string(name) + " is no list of at most " + std::to_string(most)};
  for (auto const& element : *found)
    if (!element.is_object()) throw Wrong{"an element of " + std::string(name) + " is no object"};
  return *found;
}

std::uint32_t threads_at(Json const& json, char const* name, bool must_be = true) {
  return static_cast<std::uint32_t>(
      number_at(json, name, static_cast<std::uint64_t>(max_cpus), must_be));
}

RegionProfile read_region(Json const& json) {
  RegionProfile region;
  auto const id = parse_region(text_at(json, "id", true));
  if (!id) throw Wrong{"id is no region such as 0x3df60"};
  region.id = *id;
  region.where = text_at(json, "where", false);
  auto const source = std::find(sources.begin(), sources.end(), text_at(json, "source", true));
  if (source == sources.end()) throw Wrong{"source is none of learnt, measured, given"};
  region.source = static_cast<Source>(source - sources.begin());
  region.demand = {threads_at(json, "maximum", false), threads_at(json, "optimal", false)};
  if (!region.demand.is_valid() || region.demand.is_known() != (region.demand.maximum > 0))
    throw Wrong{"maximum is less than optimal, or one is missing"};
  region.is_indifferent = flag_at(json, "indifferent");
  for (auto const& t : list_at(json, "times", static_cast<std::size_t>(max_cpus))) {
    TeamTime const time{threads_at(t, "threads"),
                        static_cast<std::int64_t>(number_at(t, "median_ns", INT64_MAX)),
                        number_at(t, "runs", UINT64_MAX),
                        static_cast<std::int64_t>(number_at(t, "spread_ns", INT64_MAX, false))};
    if (!region.times.empty() && region.times.back().threads >= time.threads)
      throw Wrong{"times are not by threads"};
    region.times.push_back(time);
  }
  return region;
}

ProgramProfile read_program(Json const& json) {
  ProgramProfile profile;
  profile.program = text_at(json, "program", true);
  profile.path = text_at(json, "path", false);
  profile.interpreter = text_at(json, "interpreter", false);
  profile.is_library = flag_at(json, "library");
  auto const binary = text_at(json, "binary", true);
  profile.binary = binary.size() == 16 ? parse_hex(binary).value_or(0) : 0;
  if (profile.binary == 0) throw Wrong{"binary is no identity of 16 hexadecimal digits"};
  profile.cpus = threads_at(json, "cpus");
  std::set<RegionId> seen;
  for (auto const& element : list_at(json, "regions", most_regions)) {
    auto region = read_region(element);
    if (!seen.insert(region.id).second)
      throw Wrong{"region " + region_name(region.id) + " comes twice"};
    profile.regions.push_back(std::move(region));
  }
  return profile;
}

}  // namespace

std::string_view to_string(Source s) noexcept { return sources[static_cast<std::size_t>(s)]; }

RegionProfile* ProgramProfile::find(RegionId id) noexcept {
  auto const found = std::find_if(regions.begin(), regions.end(),
                                  [id](RegionProfile const& r) { return r.id == id; });
  return found == regions.end() ? nullptr : &*found;
}

// One region a line, for readers.
std::string profile_text(ProgramProfile const& profile) {
  Written head{{"nigh_region_profile", format}, {"program", profile.program}};
  if (!profile.path.empty()) head["path"] = profile.path;
  if (!profile.interpreter.empty()) head["interpreter"] = profile.interpreter;
  if (profile.is_library) head["library"] = true;
  head["binary"] = hex(profile.binary, 16);
  head["cpus"] = profile.cpus;
  auto text = text_of(head);
  text.back() = ',';
  text += "\"regions\":[";
  char const* separator = "\n";
  for (auto const& region : profile.regions) {
    text.append(separator).append(text_of(written(region)));
    separator = ",\n";
  }
  return text + "\n]}\n";
}

result<ProgramProfile> parse_profile(std::string_view text) {
  auto const read = json::read(text, limits);
  if (!read) return read.to_error();
  Json const& json = *read;
  if (!json.is_object() || !json.contains("nigh_region_profile"))
    return error{"is no profile of a program's regions"};
  if (json["nigh_region_profile"] != format)
    return error{"is a profile in format " + text_of(json["nigh_region_profile"]) +
                 "; this nigh reads " + std::to_string(format)};
  try {
    return read_program(json);
  } catch (Wrong const& wrong) {
    return error{"is damaged: " + wrong.what};
  }
}

std::string region_name(RegionId id) { return "0x" + hex(id, 1); }

std::optional<RegionId> parse_region(std::string_view name) {
  if (!name.starts_with("0x")) return std::nullopt;
  return parse_hex(name.substr(2));
}

}  // namespace nigh::coordinator
