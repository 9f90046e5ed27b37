// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where each object of a machine goes in its picture.

#include <nigh/topology.hpp>
#include <string>
#include <vector>

namespace nigh::cli {

// Lengths, in SVG user units.
struct Metrics {
  double gap = 8;       // between and around boxes
  double title = 24;    // height of a package's or group's heading
  double bar = 20;      // height of a memory or cache
  double heading = 16;  // height of a core's name
  double cpu_w = 30;
  double cpu_h = 24;
  double letter = 6.4;  // mean width of a letter in a bar
};

struct Box {
  topology_object const* object = nullptr;
  double x = 0, y = 0;  // relative to the parent
  double w = 0, h = 0;
  std::vector<Box> memory;  // a row below the heading
  std::vector<Box> inner;   // a grid of `columns` below that
  int columns = 1;
  double inner_y = 0;  // top of the grid

  // A frame with room inside; otherwise the contents are as wide as the box itself. Caches that
  // several objects share get one, private ones lie on their core as layers.
  bool framed = false;
};

Box boxes_of(topology_object const& machine, Metrics const& m);

// Text in a box that has to be wide enough for it.
std::string box_label(topology_object const& o);

}  // namespace nigh::cli
