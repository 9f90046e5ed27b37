// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace bench {

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
