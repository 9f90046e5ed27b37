// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole screen, or a whole report, from the samples and the user's view.
//
//   the state of the host     header_rows()
//   the machine               machine_rows()     these two share the rest of the screen
//   the programs              table
//   more of the chosen one
//   keys

#include <optional>

#include "cli/top/frame.hpp"
#include "cli/top/machine.hpp"
#include "cli/top/sample.hpp"
#include "cli/top/view.hpp"

namespace nigh::cli::top {

struct Scene {
  Sample const& sample;
  MachineTree const& machine;
  Letters const& letters;
  Signs const& signs;
};

struct Screen {
  Rows rows;  // as many as the screen has
  Room room;
  std::optional<int> caret;  // the column of the text cursor, in the last row
};

// Adapts the view to the programs there are.
Screen lay_out(View& view, Scene const& scene, int width, int height);

// With all rows, for no screen in particular.
Rows report(Scene const& scene, int width);

// ---- parts

// At most so many rows; without a view, for a report.
Rows header_rows(Scene const& scene, View const* view, int width, int most);
Rows help_rows(Signs const& signs, int width);
Rows sort_menu_rows(int chosen, Signs const& signs, int width);
Row key_row(int width);

}  // namespace nigh::cli::top
