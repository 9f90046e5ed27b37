// SPDX-License-Identifier: Apache-2.0
#include "cli/run/request.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/nearest_name.hpp"

namespace nigh::cli {
namespace {

using PolicyKind = platform::MemoryPolicy::Kind;

struct MemoryWord {
  std::string_view word;
  PolicyKind kind;
};
constexpr std::array<MemoryWord, 4> memory_words{{{"first-touch", PolicyKind::first_touch},
                                                  {"interleave", PolicyKind::interleave},
                                                  {"bind", PolicyKind::bind},
                                                  {"preferred", PolicyKind::preferred}}};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class Integer>
std::optional<Integer> whole_number(std::string_view text) {
  Integer value{};
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

// "0,2-3"; none when the text is something else.
std::vector<int> domain_list(std::string_view text) {
  std::vector<int> domains;
  if (text.find_first_of("{}") != text.npos) return domains;
  auto const list = parse_places(text);
  if (list)
    for (auto const& one : *list) domains.push_back(one.front());
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  return domains;
}

}  // namespace

result<int> parse_threads(std::string_view text) {
  auto const threads = whole_number<int>(text);
  if (!threads || *threads < 1) return error{quoted(text) + " is no positive number of threads"};
  return *threads;
}

result<Binding> parse_binding(std::string_view text) {
  Binding binding;
  if (text == "compact") return binding;
  if (text == "scatter") {
    binding.order = cpu_order::scatter;
    return binding;
  }
  auto places = parse_places(text);
  if (!places) return error{"neither compact nor scatter, and " + places.message() +
                            base::did_you_mean(text, {"compact", "scatter"})};
  binding.places = std::move(places).value();
  return binding;
}

result<MemoryChoice> parse_memory(std::string_view text) {
  auto const colon = text.find(':');
  auto const word = text.substr(0, colon);
  auto const* const known = std::find_if(memory_words.begin(), memory_words.end(),
                                         [&](MemoryWord const& w) { return w.word == word; });
  if (known == memory_words.end()) {
    std::vector<std::string> words;
    for (auto const& w : memory_words) words.emplace_back(w.word);
    return error{quoted(text) +
                 " is none of first-touch, interleave[:DOMAINS], bind:DOMAINS, preferred:DOMAIN" +
                 base::did_you_mean(word, words)};
  }
  MemoryChoice choice{known->kind};
  bool const has_domains = colon != text.npos;
  if (has_domains) choice.domains = domain_list(text.substr(colon + 1));
  if (has_domains && (known->kind == PolicyKind::first_touch || choice.domains.empty()))
    return error{quoted(text) + ": " +
                 (known->kind == PolicyKind::first_touch
                      ? "first-touch takes no domains"
                      : quoted(text.substr(colon + 1)) + " is no list of domains as 0,2-3")};
  bool const needs = known->kind == PolicyKind::bind || known->kind == PolicyKind::preferred;
  if (needs && !has_domains)
    return error{quoted(text) + " needs a domain, as " + std::string(word) + ":0"};
  if (known->kind == PolicyKind::preferred && choice.domains.size() > 1)
    return error{quoted(text) + ": only one domain can be preferred"};
  return choice;
}

result<LoopChoice> parse_loops(std::string_view text) {
  auto words = settings::parse_schedule(text);
  if (!words) {
    std::vector<std::string> const names{"static", "dynamic", "guided", "adaptive", "local"};
    std::string const word(text.substr(0, text.find(',')));
    bool const is_known = std::find(names.begin(), names.end(), word) != names.end();
    return error{words.message() + (is_known ? "" : base::did_you_mean(word, names))};
  }
  if (words->chunk > std::numeric_limits<std::int32_t>::max())
    return error{quoted(text) + ": OpenMP's chunks end at 2147483647 iterations"};
  return words;
}

// auto: off until more programs have been tried (docs/decisions/0022-openmp-tasks.md).
result<std::string> parse_tasks(std::string_view text) {
  if (text == "auto" || text == "off") return std::string();
  constexpr std::array<std::string_view, 5> known{"prefer", "strict", "data=depend",
                                                  "prefer,data=depend", "strict,data=depend"};
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  std::vector<std::string> words(known.begin(), known.end());
  words.insert(words.end(), {"auto", "off"});
  return error{quoted(text) + " is none of auto, off, prefer, strict, data=depend, HOW,data=depend" +
               base::did_you_mean(text, words)};
}

std::string to_string(Binding const& binding) {
  if (!binding.places.empty()) return to_string(std::span<Place const>(binding.places));
  return binding.order == cpu_order::compact ? "compact" : "scatter";
}

std::string to_string(MemoryChoice const& memory) {
  std::string text;
  for (auto const& w : memory_words)
    if (w.kind == memory.kind) text = w.word;
  for (std::size_t i = 0; i < memory.domains.size(); ++i)
    text += (i == 0 ? ":" : ",") + std::to_string(memory.domains[i]);
  return text;
}

std::string to_string(LoopChoice const& loops) {
  return settings::to_string(loops.kind, loops.chunk);
}

bool openmp_has(LoopChoice const& loops) {
  return loops.kind != schedule_kind::adaptive && loops.kind != schedule_kind::local;
}

std::string to_string(Request const& request) {
  std::string text;
  auto const add = [&text](std::string_view option, std::string const& value) {
    text += (text.empty() ? "" : " ") + std::string(option) + " " + value;
  };
  if (request.threads > 0) add("--threads", std::to_string(request.threads));
  if (request.bind) add("--bind", to_string(*request.bind));
  if (request.memory) add("--mem", to_string(*request.memory));
  if (request.schedule) add("--schedule", to_string(*request.schedule));
  return text;
}

}  // namespace nigh::cli
