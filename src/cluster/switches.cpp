// SPDX-License-Identifier: Apache-2.0
#include "cluster/switches.hpp"

#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace nigh::cluster {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(between); at != text.npos; at = text.find(between)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line.substr(0, line.find('#')))};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string without_domain(std::string const& host) { return host.substr(0, host.find('.')); }

}  // namespace

std::string switch_from_slurm(char const* address, char const* pattern) {
  if (address == nullptr || pattern == nullptr) return {};
  auto const names = parts_of(address, '.'), kinds = parts_of(pattern, '.');
  if (names.size() < 2 || names.size() != kinds.size() || kinds.back() != "node") return {};
  return std::string(names[names.size() - 2]);
}

result<void> take_switches(Layout& layout, std::string_view text) {
  std::map<std::string, std::string> switch_of;  // [host]
  int number = 0;
  for (auto const line : parts_of(text, '\n')) {
    ++number;
    auto const words = words_of(line);
    if (words.empty()) continue;
    auto const where = "line " + std::to_string(number);
    if (words.size() != 2) return error{where + " is not a host's name and its switch's"};
    if (!switch_of.emplace(words[0], words[1]).second)
      return error{where + " names " + words[0] + " again"};
  }
  for (auto& place : layout.places) {
    auto at = switch_of.find(place.host);
    if (at == switch_of.end()) at = switch_of.find(without_domain(place.host));
    place.switch_name = at != switch_of.end() ? at->second : std::string();
  }
  return {};
}

}  // namespace nigh::cluster
