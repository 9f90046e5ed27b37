// SPDX-License-Identifier: Apache-2.0
// The NIGH_* environment variables that make runtime_options. docs/tasks.md shows this table.

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nigh/runtime.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/stealing/chunk_size.hpp"
#include "settings/schedule_names.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh {
namespace {

struct Variable {
  char const* name;
  char const* meaning;  // the values it may have, for complaints
  bool (*set)(runtime_options&, std::string_view value);
};

template <class Integer>
bool number(std::string_view text, Integer least, Integer& into) {
  Integer value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least) return false;
  into = value;
  return true;
}

// A number with an optional K, M or G behind it, powers of 1024.
bool bytes(std::string_view text, std::size_t& into) {
  int shift = 0;
  if (!text.empty()) switch (text.back()) {
      case 'K':
        shift = 10;
        break;
      case 'M':
        shift = 20;
        break;
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  if (shift > 0) text.remove_suffix(1);
  std::size_t value = 0;
  if (!number(text, std::size_t{1}, value)) return false;
  if (value > std::numeric_limits<std::size_t>::max() >> shift) return false;
  into = value << shift;
  return true;
}

template <class Value>
bool one_of(std::optional<Value> parsed, Value& into) {
  if (parsed) into = *parsed;
  return parsed.has_value();
}

bool order(runtime_options& o, std::string_view text) {
  auto const colon = text.find(':');
  auto const how = text.substr(0, colon);
  if (how != "compact" && how != "scatter") return false;
  if (colon != std::string_view::npos &&
      !one_of(level_from_string(text.substr(colon + 1)), o.order_level))
    return false;
  o.order = how == "compact" ? cpu_order::compact : cpu_order::scatter;
  return true;
}

bool cpu_list(runtime_options& o, std::string_view text) {
  std::vector<int> cpus;
  for (bool more = true; more;) {
    auto const comma = text.find(',');
    if (!number(text.substr(0, comma), 0, cpus.emplace_back())) return false;
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  o.cpus = std::move(cpus);
  return true;
}

bool power_of_two(std::string_view text, std::size_t& into) {
  std::size_t n = 0;
  if (!number(text, std::size_t{1}, n) || (n & (n - 1)) != 0) return false;
  into = n;
  return true;
}

bool mode(runtime_options& o, std::string_view text) {
  if (text != "prefer" && text != "strict") return false;
  o.mode = text == "strict" ? locality::strict : locality::prefer;
  return true;
}

bool queue_level(runtime_options& o, std::string_view text) {
  auto const l = level_from_string(text);
  if (!l || *l < level::core || *l > level::domain) return false;
  o.queue_level = *l;
  return true;
}

bool flag(std::string_view text, bool& into) {
  if (text != "0" && text != "1") return false;
  into = text == "1";
  return true;
}

using Options = runtime_options;
using Text = std::string_view;

constexpr Variable variables[] = {
    {"NIGH_WORKERS", "a positive number of workers",
     [](Options& o, Text t) { return number(t, 1, o.workers); }},
    {"NIGH_ORDER", "compact or scatter, and perhaps :core, :l2, :l3, :domain or :package", &order},
    {"NIGH_CPUS", "a list of cpus as 0,2,1", &cpu_list},
    {"NIGH_LOCALITY", "prefer or strict", &mode},
    {"NIGH_QUEUE_LEVEL", "core, l2, l3 or domain", &queue_level},
    {"NIGH_QUEUE_CAPACITY", "a power of two",
     [](Options& o, Text t) { return power_of_two(t, o.queue_capacity); }},
    {"NIGH_TASK_CAPACITY", "a positive number of tasks",
     [](Options& o, Text t) { return number(t, std::size_t{1}, o.task_capacity); }},
    {"NIGH_THREAD_STACK", "a size as 64M",
     [](Options& o, Text t) { return bytes(t, o.thread_stack_bytes); }},
    {"NIGH_VICTIMS", "random, ring or hierarchical",
     [](Options& o, Text t) { return one_of(policy::victim_choice_from_string(t), o.victims); }},
    {"NIGH_CHUNKS", "one, half or hierarchical",
     [](Options& o, Text t) { return one_of(policy::chunk_choice_from_string(t), o.chunks); }},
    {"NIGH_DEPTH_CUTOFF", "a depth, 0 for none",
     [](Options& o, Text t) { return number(t, 0, o.depth_cutoff); }},
    {"NIGH_QUEUE_CUTOFF", "a number of tasks, 0 for none",
     [](Options& o, Text t) { return number(t, 0, o.queue_cutoff); }},
    {"NIGH_COUNT_TASKS", "0 or 1", [](Options& o, Text t) { return flag(t, o.count_tasks); }},
    {"NIGH_SCHEDULE", "a schedule as static, static,16, dynamic,4, guided, adaptive or local",
     [](Options& o, Text t) {
       auto const words = settings::parse_schedule(t);
       if (words) o.loops = schedule(words->kind, words->chunk);
       return words.ok();
     }},
    {"NIGH_TRACE", "a file",
     [](Options& o, Text t) {
       o.trace_file = t;
       return true;
     }},
};

}  // namespace

runtime_options options_from_environment(runtime_options options) {
  for (Variable const& v : variables) {
    char const* const value = std::getenv(v.name);
    if (value != nullptr && !v.set(options, value))
      throw std::invalid_argument(std::string(v.name) + "='" + value + "' is not " + v.meaning);
  }
  return options;
}

}  // namespace nigh
