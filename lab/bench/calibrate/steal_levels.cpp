// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <nigh/runtime.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bench/calibrate/measure.hpp"
#include "bench/handshakes.hpp"
#include "bench/pinned_threads.hpp"
#include "bench/probes.hpp"
#include "bench/statistics.hpp"

namespace bench {

namespace {

// Seconds that one cpu takes to copy what the other one has just written, `bytes` at a time.
Samples time_copies(int owner, int thief, std::size_t bytes, int samples) {
  std::vector<char> written(bytes), copy(bytes);
  Turn turn;  // even: the owner writes
  Samples times;
  PinnedThreads pinned({owner, thief});
  pinned.run([&](int thread) {
    for (int s = -1; s < samples; ++s) {  // the first one warms up
      int const mine = 2 * (s + 1) + thread;
      turn.wait(mine);
      if (thread == 0) {
        std::memset(written.data(), s + 1, bytes);
      } else {
        auto const start = std::chrono::steady_clock::now();
        std::memcpy(copy.data(), written.data(), bytes);
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
        if (s >= 0) times.push_back(passed.count());
      }
      turn.pass(mine + 1);
    }
  });
  return times;
}

}  // namespace

std::vector<StealLevel> steal_levels(nigh::topology const& machine) {
  using nigh::level;
  std::vector<StealLevel> found;
  std::size_t inner = 1;
  for (level l : {level::core, level::l2, level::l3, level::domain, level::package, level::host}) {
    auto const groups = machine.groups(l);
    auto const size = groups.front().size();
    bool const is_regular = std::all_of(groups.begin(), groups.end(),
                                        [&](auto const& group) { return group.size() == size; });
    if (!is_regular || size % inner != 0) continue;
    if (size > inner)
      found.push_back(
          {l, {}, static_cast<int>(size), groups.front().front(), groups.front().back()});
    else if (!found.empty())
      found.back().same.push_back(l);
    inner = size;
  }
  return found;
}

StealCosts measure_steals(nigh::topology const& machine, StealLevel const& level, int repetitions) {
  constexpr int each = 20;
  constexpr std::size_t copied_bytes = 32 << 10;  // in the cache of who wrote it
  std::array<int, 2> const pair{level.owner, level.thief};
  auto const two = machine.restricted_to(pair);
  if (!two) throw std::runtime_error(two.message());
  StealCosts costs;
  nigh::runtime runtime({.machine = &*two});
  for (int n = -1; n < repetitions; ++n) {  // the first one warms up
    auto const line = median_of(time_cache_line({pair.begin(), pair.end()}, each));
    auto const steal = median_of(time_steals(runtime, each));
    auto const copy = median_of(time_copies(level.owner, level.thief, copied_bytes, each));
    if (n < 0) continue;
    costs.line.push_back(line);
    costs.steal.push_back(steal);
    costs.gb_per_s.push_back(static_cast<double>(copied_bytes) / copy * 1e-9);
  }
  return costs;
}

namespace {

using Object = nigh::topology_object;
using Kind = Object::kind;

// Its name in the notation; empty: it is left out, and its children take its place.
std::string word(Object const& o) {
  switch (o.type) {
    case Kind::package:
      return "pack";
    case Kind::die:
      return "die";
    case Kind::group:
      return "group";
    case Kind::core:
      return "core";
    case Kind::cpu:
      return "pu";
    case Kind::cache:
      return o.name == "L3" ? "l3" : o.name == "L2" ? "l2" : "";
    default:
      return "";
  }
}

bool is_of_use(Object const& o) {
  if (o.type == Kind::cpu) return o.allowed;
  return std::any_of(o.children.begin(), o.children.end(), is_of_use);
}

// The nearest objects below `o` that the notation has a word for.
void collect(Object const& o, std::vector<Object const*>& all) {
  for (auto const& child : o.children) {
    if (child.type == Kind::memory || !is_of_use(child)) continue;
    if (word(child).empty())
      collect(child, all);
    else
      all.push_back(&child);
  }
}

// Level by level: all objects of a level have equally many of one kind below them.
std::optional<std::string> describe(Object const& root) {
  std::string text;
  std::vector<Object const*> level{&root};
  while (!level.empty()) {
    std::vector<Object const*> below;
    std::size_t each = 0, memories = 0;
    for (std::size_t i = 0; i < level.size(); ++i) {
      auto const before = below.size();
      collect(*level[i], below);
      std::size_t here = 0;
      for (auto const& child : level[i]->children) here += child.type == Kind::memory;
      if (i == 0) each = below.size(), memories = here;
      if (below.size() - before != each || here != memories) return std::nullopt;
    }
    if (memories > 1) return std::nullopt;
    if (memories == 1) text += "numa:1 ";
    if (below.empty()) break;
    for (auto const* o : below)
      if (word(*o) != word(*below.front()) || o->size_bytes != below.front()->size_bytes)
        return std::nullopt;
    text += fmt::format("{}:{}", word(*below.front()), each);
    if (below.front()->type == Kind::cache)
      text += fmt::format("(size={})", below.front()->size_bytes);
    text += ' ';
    level = std::move(below);
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::string synthetic_of(nigh::topology const& machine) {
  auto const text = describe(machine.root());
  if (!text) return "";
  auto const again = nigh::topology::from_synthetic(*text);
  bool const is_same = again && again->cpus().size() == machine.cpus().size() &&
                       again->cpu_domains() == machine.cpu_domains() &&
                       again->cores() == machine.cores();
  return is_same ? *text : "";
}

}  // namespace bench
