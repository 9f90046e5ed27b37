// SPDX-License-Identifier: Apache-2.0
#include "cli/topo_boxes.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>

#include "cli/topo.hpp"

namespace nigh::cli {
namespace {

using ObjectKind = topology_object::kind;

double heading_of(topology_object const& o, Metrics const& m) {
  switch (o.type) {
    case ObjectKind::machine:
      return 0;
    case ObjectKind::memory:
    case ObjectKind::cache:
      return m.bar;
    case ObjectKind::core:
      return m.heading;
    case ObjectKind::cpu:
      return m.cpu_h;
    default:
      return m.title;
  }
}

// A private cache lies on its core like a layer; one that several objects share frames them.
bool is_layer(topology_object const& o) { return o.type == ObjectKind::cache && o.children.size() <= 1; }

struct Cell {
  double w = 0, h = 0;
};

Cell largest(std::vector<Box> const& boxes) {
  Cell cell;
  for (auto const& b : boxes) cell = {std::max(cell.w, b.w), std::max(cell.h, b.h)};
  return cell;
}

double span(int count, double size, double gap) { return count * size + (count - 1) * gap; }

// The grid closest to the shape of a screen that wastes little room.
int best_columns(int count, Cell cell, double gap) {
  constexpr double screen = 1.6;
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int columns = 1; columns <= count; ++columns) {
    int const rows = (count + columns - 1) / columns;
    double const shape = span(columns, cell.w, gap) / span(rows, cell.h, gap);
    double const holes = static_cast<double>(rows * columns - count) / count;
    double const badness = std::abs(std::log(shape / screen)) + 2 * holes;
    if (badness < least) {
      least = badness;
      best = columns;
    }
  }
  return best;
}

int columns_of(topology_object const& o, Cell cell, int count, double gap) {
  if (o.type == ObjectKind::core) return std::min(count, 4);
  return best_columns(count, cell, gap);
}

Box measure(topology_object const& o, Metrics const& m) {
  Box box;
  box.object = &o;
  for (auto const& child : o.children)
    (child.type == ObjectKind::memory ? box.memory : box.inner).push_back(measure(child, m));
  box.framed =
      o.type != ObjectKind::cpu && o.type != ObjectKind::memory && o.type != ObjectKind::machine && !is_layer(o);

  double const pad = box.framed ? m.gap : 0;
  double const inside_gap = o.type == ObjectKind::core || is_layer(o) ? m.gap / 2 : m.gap;
  double y = heading_of(o, m);
  if (o.type == ObjectKind::cache && box.framed) y += m.gap;  // the bar is inside the frame
  double w = static_cast<double>(box_label(o).size()) * m.letter + m.gap;
  if (o.type == ObjectKind::cpu) w = std::max(w, m.cpu_w);

  if (!box.memory.empty()) {
    auto const cell = largest(box.memory);
    w = std::max(w, span(static_cast<int>(box.memory.size()), cell.w, m.gap));
    bool const below_bar = o.type == ObjectKind::cache;
    y += (below_bar ? m.gap / 2 : 0) + cell.h + (box.inner.empty() ? 0 : m.gap);
  } else if (is_layer(o) && !box.inner.empty()) {
    y += inside_gap;
  } else if (o.type == ObjectKind::cache && !box.inner.empty()) {
    y += m.gap;
  }
  box.inner_y = y;
  if (!box.inner.empty()) {
    auto const count = static_cast<int>(box.inner.size());
    auto const cell = largest(box.inner);
    box.columns = columns_of(o, cell, count, inside_gap);
    w = std::max(w, span(box.columns, cell.w, inside_gap));
    y += span((count + box.columns - 1) / box.columns, cell.h, inside_gap);
  }
  box.w = w + 2 * pad;
  box.h = y + pad;
  return box;
}

// Gives a measured box its final size, which is at least the size it asked for, and places its
// contents.
void place(Box& box, double w, double h, Metrics const& m) {
  auto const& o = *box.object;
  double const pad = box.framed ? m.gap : 0;
  double const gap = o.type == ObjectKind::core || is_layer(o) ? m.gap / 2 : m.gap;
  box.w = w;
  box.h = h;
  double const inside = w - 2 * pad;
  if (!box.memory.empty()) {
    auto const count = static_cast<int>(box.memory.size());
    auto const cell = largest(box.memory);
    double const each = (inside - (count - 1) * m.gap) / count;
    double const top = box.inner_y - cell.h - (box.inner.empty() ? 0 : m.gap);
    double x = pad;
    for (auto& b : box.memory) {
      b.x = x;
      b.y = top;
      place(b, each, cell.h, m);
      x += each + m.gap;
    }
  }
  if (box.inner.empty()) return;
  auto const cell = largest(box.inner);
  auto const count = static_cast<int>(box.inner.size());
  int const rows = (count + box.columns - 1) / box.columns;
  double const each_w = (inside - (box.columns - 1) * gap) / box.columns;
  double const spare_h = h - pad - box.inner_y - span(rows, cell.h, gap);
  double const each_h = cell.h + std::max(0.0, spare_h) / rows;
  for (int i = 0; i < count; ++i) {
    auto& b = box.inner[static_cast<std::size_t>(i)];
    b.x = pad + i % box.columns * (each_w + gap);
    b.y = box.inner_y + i / box.columns * (each_h + gap);
    place(b, each_w, each_h, m);
  }
}

}  // namespace

std::string box_label(topology_object const& o) {
  if (o.type == ObjectKind::cpu) return std::to_string(o.os_index);
  auto text = label_of(o);
  if (o.type == ObjectKind::memory && o.domain >= 0) text = "D" + std::to_string(o.domain) + " · " + text;
  if (o.type == ObjectKind::package || o.type == ObjectKind::die || o.type == ObjectKind::group)
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

Box boxes_of(topology_object const& machine, Metrics const& m) {
  auto box = measure(machine, m);
  place(box, box.w, box.h, m);
  return box;
}

}  // namespace nigh::cli
