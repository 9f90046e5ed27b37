// SPDX-License-Identifier: Apache-2.0
// The NIGH_* environment variables that make runtime_options. docs/tasks.md shows this table.

#include "runtime/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <nigh/runtime.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "platform/cgroup.hpp"
#include "policy/cpus/worker_count.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/steal_order.hpp"
#include "settings/schedule_names.hpp"

namespace nigh {
namespace {

struct Variable {
  char const* name;
  std::string_view option;  // of runtime_options
  char const* meaning;      // the values it may have, for complaints
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

// "16", or "16:oversubscribe": that many, whatever there is.
std::optional<policy::WorkersAsked> workers_asked(std::string_view text) {
  policy::WorkersAsked asked;
  auto const colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (text.substr(colon) != ":oversubscribe") return std::nullopt;
    asked.oversubscribe = true;
  }
  if (!number(text.substr(0, colon), 1, asked.number)) return std::nullopt;
  return asked;
}

bool flag(std::string_view text, bool& into) {
  if (text != "0" && text != "1") return false;
  into = text == "1";
  return true;
}

using Options = runtime_options;
using Text = std::string_view;

constexpr Variable variables[] = {
    {"NIGH_WORKERS", "workers", "a number of workers from 1 to 1024",
     [](Options& o, Text t) {
       auto const asked = workers_asked(t);
       if (asked) o.workers = asked->number;
       return asked.has_value();
     }},
    {"NIGH_ORDER", "order", "compact or scatter, and perhaps :core, :l2, :l3, :domain or :package",
     &order},
    {"NIGH_CPUS", "cpus", "a list of cpus as 0,2,1", &cpu_list},
    {"NIGH_LOCALITY", "mode", "prefer or strict", &mode},
    {"NIGH_QUEUE_LEVEL", "queue_level", "core, l2, l3 or domain", &queue_level},
    {"NIGH_QUEUE_CAPACITY", "queue_capacity", "a power of two",
     [](Options& o, Text t) { return power_of_two(t, o.queue_capacity); }},
    {"NIGH_TASK_CAPACITY", "task_capacity", "a positive number of tasks",
     [](Options& o, Text t) { return number(t, std::size_t{1}, o.task_capacity); }},
    {"NIGH_THREAD_STACK", "thread_stack_bytes", "a size as 64M",
     [](Options& o, Text t) { return bytes(t, o.thread_stack_bytes); }},
    {"NIGH_VICTIMS", "victims", "random, ring or hierarchical",
     [](Options& o, Text t) { return one_of(policy::victim_choice_from_string(t), o.victims); }},
    {"NIGH_CHUNKS", "chunks", "one, half or hierarchical",
     [](Options& o, Text t) { return one_of(policy::chunk_choice_from_string(t), o.chunks); }},
    {"NIGH_DEPTH_CUTOFF", "depth_cutoff", "a depth, 0 for none",
     [](Options& o, Text t) { return number(t, 0, o.depth_cutoff); }},
    {"NIGH_QUEUE_CUTOFF", "queue_cutoff", "a number of tasks, 0 for none",
     [](Options& o, Text t) { return number(t, 0, o.queue_cutoff); }},
    {"NIGH_COUNT_TASKS", "count_tasks", "0 or 1",
     [](Options& o, Text t) { return flag(t, o.count_tasks); }},
    {"NIGH_SCHEDULE", "loops",
     "a schedule as static, static,16, dynamic,4, guided, adaptive or local",
     [](Options& o, Text t) {
       auto const words = settings::parse_schedule(t);
       if (words) o.loops = schedule(words->kind, words->chunk);
       return words.ok();
     }},
    {"NIGH_TRACE", "trace_file", "a file",
     [](Options& o, Text t) {
       o.trace_file = t;
       return true;
     }},
};

Variable const* variable_of(std::string_view option) {
  for (Variable const& v : variables)
    if (v.option == option) return &v;
  return nullptr;
}

int cpus_in(topology_object const& o) {
  int count = o.type == topology_object::kind::cpu ? 1 : 0;
  for (auto const& child : o.children) count += cpus_in(child);
  return count;
}

std::string workers(int n) { return std::to_string(n) + (n == 1 ? " worker" : " workers"); }
std::string cpus(int n) { return std::to_string(n) + (n == 1 ? " cpu" : " cpus"); }

// NIGH_WORKERS names more than this process has cpus: the number that it gets, and a note, once.
int workers_there(policy::WorkersAsked asked, topology const& machine) {
  policy::CpusThere const there{cpus_in(machine.root()), static_cast<int>(machine.cpus().size()),
                                platform::own_cpu_quota()};
  auto const count = policy::worker_count(asked, there);
  if (count.workers > std::max(tasks::most_workers, there.allowed))
    return count.workers;  // refused
  auto const name = "NIGH_WORKERS=" + std::to_string(asked.number);
  auto const way_out = "; " + name + ":oversubscribe has them take turns";
  if (count.held_by == policy::WorkersHeldBy::quota)
    tasks::note_once(name + ", but the quota of the cgroup has time for " + cpus(count.workers) +
                     ": " + workers(count.workers) + way_out);
  else if (count.held_by == policy::WorkersHeldBy::cpus)
    tasks::note_once(name + ", but this process may use " + cpus(there.allowed) + " of " +
                     std::to_string(there.present) + ": " + workers(count.workers) + way_out);
  else if (asked.number > there.allowed)
    tasks::note_once(name + ": " + workers(asked.number) + " on " + cpus(there.allowed) +
                     " take turns");
  return count.workers;
}

}  // namespace

namespace tasks {

std::string option_as_given(runtime_options const& options, std::string_view option) {
  auto const* const v = variable_of(option);
  char const* const value = v != nullptr ? std::getenv(v->name) : nullptr;
  Options with = options;  // differs where the variable says something else
  if (value != nullptr && v->set(with, value)) {
    auto const are_same = [&](auto... members) {
      return ((with.*members == options.*members) && ...);
    };
    if (are_same(&Options::cpus, &Options::workers, &Options::queue_capacity,
                 &Options::task_capacity, &Options::thread_stack_bytes, &Options::queue_level,
                 &Options::depth_cutoff, &Options::queue_cutoff))
      return std::string(v->name) + "='" + value + "'";
  }
  return "runtime_options::" + std::string(option);
}

void note_once(std::string const& note) {
  static std::mutex lock;
  static auto& said = *new std::set<std::string>;
  char const* const verbose = std::getenv("NIGH_VERBOSE");
  if (verbose != nullptr && std::string_view(verbose) == "0") return;
  std::lock_guard const guard(lock);
  if (said.insert(note).second) std::fprintf(stderr, "nigh: %s\n", base::printable(note).c_str());
}

}  // namespace tasks

runtime_options options_from_environment(runtime_options options) {
  for (Variable const& v : variables) {
    char const* const value = std::getenv(v.name);
    if (value != nullptr && !v.set(options, value))
      throw std::invalid_argument(std::string(v.name) + "='" + value + "' is not " + v.meaning);
  }
  // On cpus that the user or the program names, as many workers as asked for.
  if (char const* const value = std::getenv("NIGH_WORKERS");
      value != nullptr && options.cpus.empty()) {
    auto const& machine = options.machine != nullptr ? *options.machine : this_host();
    if (machine.is_this_host()) options.workers = workers_there(*workers_asked(value), machine);
  }
  return options;
}

}  // namespace nigh
