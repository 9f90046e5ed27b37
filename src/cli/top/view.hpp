// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user's view, and how keys change it.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/top/sample.hpp"
#include "cli/top/table.hpp"

namespace nigh::cli::top {

struct Key {
  enum class Kind : std::uint8_t {
    character,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    enter,
    escape,
    backspace,
    function,  // F1 is 1
    resize,
    other,
  };
  Kind kind = Kind::other;
  int value = 0;  // the character, or the number of the function key

  static Key of(char c) { return {Kind::character, c}; }
  static Key f(int n) { return {Kind::function, n}; }
};

enum class Show : std::uint8_t { both, machine, programs };

// A line that is being typed.
struct Prompt {
  enum class For : std::uint8_t { search, filter, delay } what = For::search;
  std::string text;
};

struct View {
  Order order;
  std::string filter;
  Show show = Show::both;
  std::uint32_t chosen = 0;  // program's number; 0: none yet
  int chosen_row = 0;        // its last row, for when the program is gone
  int first_program = 0;     // row at the top
  int first_machine = 0;     // the same, of the machine alone
  double delay_s = 1;
  bool is_paused = false;
  bool shows_help = false;
  std::optional<int> sort_menu;  // the column under the cursor
  std::optional<Prompt> prompt;
  std::string notice;  // until the next key
};

// How many rows were visible when a frame was last laid out.
struct Room {
  int programs = 0;
  int machine = 0;
};

enum class Wish : std::uint8_t { nothing, look_again, quit };
Wish press(View& view, Key key, Sample const& sample, Room const& room);

constexpr double least_delay_s = 0.1, most_delay_s = 3600;

// Adapts the view to the present state: the chosen program, the visible rows.
void follow(View& view, Sample const& sample, int rows);

}  // namespace nigh::cli::top
