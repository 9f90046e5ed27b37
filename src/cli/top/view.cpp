// SPDX-License-Identifier: Apache-2.0
#include "cli/top/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace nigh::cli::top {
namespace {

using Kind = Key::Kind;

std::vector<std::uint32_t> numbers(View const& view, Sample const& sample) {
  std::vector<std::uint32_t> all;
  for (auto const* p : programs_in_order(sample, view.order, view.filter))
    all.push_back(p->program);
  return all;
}

void choose(View& view, std::vector<std::uint32_t> const& all, int row) {
  if (all.empty()) return;
  view.chosen_row = std::clamp(row, 0, static_cast<int>(all.size()) - 1);
  view.chosen = all[static_cast<std::size_t>(view.chosen_row)];
}

// The next match after the cursor, wrapping around; also the cursor's own row if `from_here`.
bool find(View& view, Sample const& sample, std::string const& text, bool from_here) {
  auto const rows = programs_in_order(sample, view.order, view.filter);
  auto const n = static_cast<int>(rows.size());
  for (int step = from_here ? 0 : 1; step < n + (from_here ? 0 : 1); ++step) {
    int const row = (view.chosen_row + step) % n;
    if (!is_found(*rows[static_cast<std::size_t>(row)], sample, text)) continue;
    choose(view, numbers(view, sample), row);
    return true;
  }
  return false;
}

void move_by(View& view, Key key, Sample const& sample, Room const& room) {
  int const page = std::max(1, view.show == Show::machine ? room.machine : room.programs);
  constexpr int far = 1 << 20;
  int by = 0;
  if (key.kind == Kind::up) by = -1;
  if (key.kind == Kind::down) by = 1;
  if (key.kind == Kind::page_up) by = -page;
  if (key.kind == Kind::page_down) by = page;
  if (key.kind == Kind::home) by = -far;
  if (key.kind == Kind::end) by = far;
  if (view.show == Show::machine)
    view.first_machine = std::clamp(view.first_machine + by, 0, far);
  else
    choose(view, numbers(view, sample), view.chosen_row + by);
}

void sort_by(View& view, int column) {
  view.order = {static_cast<Column>(std::clamp(column, 0, column_count - 1)), false};
}

void set_delay(View& view, std::string const& text) {
  char* end = nullptr;
  double const seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds >= least_delay_s && seconds <= most_delay_s))
    view.notice = "a delay is from 0.1 to 3600 seconds";
  else
    view.delay_s = seconds;
}

Wish write(View& view, Key key, Sample const& sample) {
  auto& prompt = *view.prompt;
  using For = Prompt::For;
  bool is_done = false;
  if (key.kind == Kind::character) {
    constexpr std::size_t longest = 60;
    if (prompt.text.size() < longest) prompt.text += static_cast<char>(key.value);
  } else if (key.kind == Kind::backspace) {
    while (!prompt.text.empty()) {  // a whole character
      auto const last = static_cast<unsigned char>(prompt.text.back());
      prompt.text.pop_back();
      if ((last & 0xc0) != 0x80) break;
    }
  } else if (key.kind == Kind::enter) {
    if (prompt.what == For::delay) set_delay(view, prompt.text);
    is_done = true;
  } else if (key.kind == Kind::escape) {
    if (prompt.what == For::filter) view.filter.clear();
    is_done = true;
  } else if (key.kind == Kind::function && key.value == 3 && prompt.what == For::search) {
    if (!find(view, sample, prompt.text, false)) view.notice = "no such program";
    return Wish::nothing;
  } else {
    return Wish::nothing;
  }
  if (!is_done && prompt.what == For::filter) view.filter = prompt.text;
  if (!is_done && prompt.what == For::search && !prompt.text.empty())
    if (!find(view, sample, prompt.text, true)) view.notice = "no such program";
  if (is_done) view.prompt.reset();
  return Wish::nothing;
}

Wish pick_column(View& view, Key key) {
  int& at = *view.sort_menu;
  if (key.kind == Kind::up) at = std::max(0, at - 1);
  if (key.kind == Kind::down) at = std::min(column_count - 1, at + 1);
  if (key.kind == Kind::home) at = 0;
  if (key.kind == Kind::end) at = column_count - 1;
  if (key.kind == Kind::enter) sort_by(view, at);
  bool const leaves = key.kind == Kind::enter || key.kind == Kind::escape ||
                      (key.kind == Kind::character && key.value == 'q') ||
                      (key.kind == Kind::function && (key.value == 6 || key.value == 10));
  if (leaves) view.sort_menu.reset();
  return Wish::nothing;
}

Wish letter(View& view, char c) {
  auto const column = static_cast<int>(view.order.by);
  switch (c) {
    case 'q':
      return Wish::quit;
    case 'h':
    case '?':
      view.shows_help = true;
      break;
    case 't':
      view.show = static_cast<Show>((static_cast<int>(view.show) + 1) % 3);
      break;
    case '<':
    case ',':
      sort_by(view, column - 1);
      break;
    case '>':
    case '.':
      sort_by(view, column + 1);
      break;
    case 'I':
      view.order.is_inverted = !view.order.is_inverted;
      break;
    case 'P':
      sort_by(view, static_cast<int>(Column::cpus));
      break;
    case 'T':
      sort_by(view, static_cast<int>(Column::waited));
      break;
    case 'N':
      sort_by(view, static_cast<int>(Column::pid));
      break;
    case '/':
      view.prompt = Prompt{Prompt::For::search, {}};
      break;
    case '\\':
      view.prompt = Prompt{Prompt::For::filter, view.filter};
      break;
    case 'd':
    case 's':
      view.prompt = Prompt{Prompt::For::delay, {}};
      break;
    case 'Z':
      view.is_paused = !view.is_paused;
      break;
    case 'k':
      view.notice = "nigh top only looks: kill ends programs";
      break;
    case ' ':
      return Wish::look_again;
    default:
      break;
  }
  return Wish::nothing;
}

}  // namespace

Wish press(View& view, Key key, Sample const& sample, Room const& room) {
  view.notice.clear();
  if (key.kind == Kind::resize) return Wish::nothing;
  if (view.shows_help) {
    view.shows_help = false;  // any key
    return Wish::nothing;
  }
  if (view.prompt) return write(view, key, sample);
  if (view.sort_menu) return pick_column(view, key);
  if (key.kind == Kind::character) return letter(view, static_cast<char>(key.value));
  if (key.kind == Kind::escape) view.filter.clear();
  if (key.kind == Kind::function) {
    if (key.value == 6) {
      view.sort_menu = static_cast<int>(view.order.by);
      return Wish::nothing;
    }
    constexpr std::string_view same{"\0?\0/\\t\0\0\0kq", 11};  // F1 is [1]
    auto const at = static_cast<std::size_t>(key.value);
    return at < same.size() && same[at] != '\0' ? letter(view, same[at]) : Wish::nothing;
  }
  move_by(view, key, sample, room);
  return Wish::nothing;
}

void follow(View& view, Sample const& sample, int rows) {
  rows = std::max(1, rows);
  auto const all = numbers(view, sample);
  auto const found = std::find(all.begin(), all.end(), view.chosen);
  choose(view, all, found != all.end() ? static_cast<int>(found - all.begin()) : view.chosen_row);
  int const count = static_cast<int>(all.size());
  view.first_program = std::clamp(view.first_program, std::max(0, view.chosen_row - rows + 1),
                                  std::max(0, view.chosen_row));
  view.first_program = std::clamp(view.first_program, 0, std::max(0, count - rows));
}

}  // namespace nigh::cli::top
