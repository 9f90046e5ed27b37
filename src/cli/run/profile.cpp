// SPDX-License-Identifier: Apache-2.0
#include "cli/run/profile.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/commands.hpp"
#include "json/bounded.hpp"

namespace nigh::cli {
namespace {

using ObjectKind = topology_object::kind;
constexpr int format = 1;
constexpr std::array<std::string_view, 7> keys{"nigh_profile", "machine",  "threads", "bind",
                                               "mem",          "schedule", "measured"};
constexpr json::Limits limits{1 << 20, 8};  // as many cpus as --bind takes, each written out

template <class Is>
int count(topology_object const& o, Is const& is) {
  int n = is(o) ? 1 : 0;
  for (auto const& child : o.children) n += count(child, is);
  return n;
}

// The field, read from its text by `parse`; absent and null: not set.
template <class T>
result<std::optional<T>> field(nlohmann::json const& json, char const* name,
                               result<T> (*parse)(std::string_view)) {
  auto const found = json.find(name);
  if (found == json.end() || found->is_null()) return std::optional<T>();
  auto parsed = found->is_string()            ? parse(found->get<std::string>())
                : found->is_number_unsigned() ? parse(std::to_string(found->get<unsigned long>()))
                                              : result<T>(error{"it is neither text nor a whole number from 0"});
  if (!parsed) return error{std::string(name) + ": " + parsed.message()};
  return std::optional<T>(std::move(parsed).value());
}

// Empty: none.
std::string difference(nlohmann::json const& there, MachineShape const& here) {
  if (!there.is_object()) return "it does not say of which machine it is";
  auto const number = [&](char const* name) {
    auto const it = there.find(name);
    return it != there.end() && it->is_number_integer() ? it->get<long>() : -1L;
  };
  auto const differs = [](std::string const& what, long is, long here_is) {
    return "it is of a machine with " + std::to_string(is) + ' ' + what + ", this one has " +
           std::to_string(here_is);
  };
  if (number("cpus") != here.cpus) return differs("cpus", number("cpus"), here.cpus);
  if (number("domains") != here.domains) return differs("domains", number("domains"), here.domains);
  auto const levels = there.find("topology");
  auto const text = levels != there.end() && levels->is_string() ? levels->get<std::string>() : "";
  if (text != here.levels) return "it is of a machine " + text + ", this one is " + here.levels;
  return {};
}

}  // namespace

MachineShape shape_of(topology const& machine) {
  MachineShape shape;
  auto const of_kind = [](ObjectKind kind) {
    return [kind](topology_object const& o) { return o.type == kind; };
  };
  auto const& root = machine.root();
  shape.cpus = count(root, of_kind(ObjectKind::cpu));
  shape.domains = count(root, of_kind(ObjectKind::memory));
  auto const l3 = count(root, [](topology_object const& o) {
    return o.type == ObjectKind::cache && o.name.starts_with("L3");
  });
  std::array<std::pair<char const*, int>, 5> const levels{
      {{"package", count(root, of_kind(ObjectKind::package))},
       {"domain", shape.domains},
       {"l3", l3},
       {"core", count(root, of_kind(ObjectKind::core))},
       {"cpu", shape.cpus}}};
  for (auto const& [name, n] : levels)
    shape.levels += (shape.levels.empty() ? "" : " ") + std::string(name) + ':' + std::to_string(n);
  return shape;
}

std::string profile_json(Request const& request, MachineShape const& machine) {
  nlohmann::ordered_json json;
  json["nigh_profile"] = format;
  json["machine"] = {
      {"topology", machine.levels}, {"cpus", machine.cpus}, {"domains", machine.domains}};
  if (request.threads > 0) json["threads"] = request.threads;
  if (request.bind) json["bind"] = to_string(*request.bind);
  if (request.memory) json["mem"] = to_string(*request.memory);
  if (request.schedule) json["schedule"] = to_string(*request.schedule);
  return json.dump(2) + '\n';
}

result<Request> parse_profile(std::string const& text, MachineShape const& here, bool force) {
  auto const read = json::read(text, limits);
  if (!read) return read.to_error();
  auto const& json = *read;
  if (!json.is_object() || !json.contains("nigh_profile"))
    return error{"is no profile of nigh tune"};
  if (json["nigh_profile"] != format)
    return error{"is a profile in format " + json["nigh_profile"].dump() + "; this nigh reads " +
                 std::to_string(format)};
  if (auto const other = difference(json.value("machine", nlohmann::json()), here);
      !force && !other.empty())
    return error{"is for another machine: " + other + "; --force uses it nevertheless"};
  for (auto const& item : json.items())
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end())
      return error{"has " + nlohmann::json(item.key()).dump() + ", which is no part of a profile"};
  Request request;
  auto const threads = field<int>(json, "threads", parse_threads);
  if (!threads) return threads.to_error();
  request.threads = threads->value_or(0);
  auto const bind = field<Binding>(json, "bind", parse_binding);
  if (!bind) return bind.to_error();
  request.bind = *bind;
  auto const memory = field<MemoryChoice>(json, "mem", parse_memory);
  if (!memory) return memory.to_error();
  request.memory = *memory;
  auto const schedule = field<LoopChoice>(json, "schedule", parse_loops);
  if (!schedule) return schedule.to_error();
  request.schedule = *schedule;
  return request;
}

Request read_profile(std::string const& file, topology const& machine, bool force) {
  auto const fail = [&file](std::string const& why) -> UsageError {
    return UsageError("--profile: " + file + ' ' + why);
  };
  auto const text = json::read_file(file, limits.bytes);
  if (!text) throw fail(text.message());
  auto request = parse_profile(*text, shape_of(machine), force);
  if (!request) throw fail(request.message());
  return std::move(request).value();
}

}  // namespace nigh::cli
