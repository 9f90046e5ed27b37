// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user's request to `nigh run`, as text and as values. Every parse error is one sentence about
// the text; the caller names the option.

#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/places.hpp"
#include "platform/memory_policy.hpp"
#include "settings/schedule_names.hpp"

namespace nigh::cli {

// Compact or scatter, or the places themselves.
struct Binding {
  cpu_order order = cpu_order::compact;
  std::vector<Place> places = {};  // not empty: these, in this order

  bool operator==(Binding const&) const = default;
};

struct MemoryChoice {
  platform::MemoryPolicy::Kind kind = platform::MemoryPolicy::Kind::first_touch;
  std::vector<int> domains = {};  // of interleave none: all that have cpus and memory

  bool operator==(MemoryChoice const&) const = default;
};

// For the loops that leave it to their runtime.
using LoopChoice = settings::ScheduleWords;

struct Request {
  int threads = 0;  // 0: not said
  std::optional<Binding> bind = {};
  std::optional<MemoryChoice> memory = {};
  std::optional<LoopChoice> schedule = {};

  bool operator==(Request const&) const = default;
};

result<int> parse_threads(std::string_view text);
result<Binding> parse_binding(std::string_view text);  // compact, scatter, PLACES
result<MemoryChoice> parse_memory(
    std::string_view text);  // first-touch, interleave[:0,1], bind:0, preferred:0
result<LoopChoice> parse_loops(std::string_view text);  // static, dynamic,4, ...

// Whether nigh runs the tasks of OpenMP regions, and how it heeds their affinity: empty,
// prefer, strict, data=depend.
result<std::string> parse_tasks(std::string_view text);

std::string to_string(Binding const& binding);
std::string to_string(MemoryChoice const& memory);
std::string to_string(LoopChoice const& loops);
bool openmp_has(LoopChoice const& loops);       // whether schedule(runtime) can express it
std::string to_string(Request const& request);  // as options of `nigh run`

}  // namespace nigh::cli
