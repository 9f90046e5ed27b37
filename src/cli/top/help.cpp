// SPDX-License-Identifier: Apache-2.0
// The page of keys.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/layout.hpp"

namespace nigh::cli::top {
namespace {

struct Help {
  std::string_view keys, meaning;
};

constexpr std::array<Help, 16> helps{{
    {"up down PgUp PgDn", "choose a program; its cpus stand out"},
    {"Home End", "the first, the last"},
    {"F3 /", "search; F3 again: the next one"},
    {"F4 \\", "only programs with this text; Esc: all"},
    {"F5 t", "machine and programs, machine, programs"},
    {"F6", "choose what to sort by"},
    {"< >", "sort by the column to the left, to the right"},
    {"P T N", "sort by cpus, by time waited, by process"},
    {"I", "the other way round"},
    {"d s", "seconds between looks"},
    {"Z", "stand still, go on"},
    {"space", "look now"},
    {"F1 h ?, F10 q", "this; leave"},
    {"A to z", "a cpu is held by the program with this letter"},
    {".", "a cpu is free"},
    {"#", "a cpu is busy with a program that knows no coordinator"},
}};

struct FunctionKey {
  std::string_view key, label;
  int importance;  // a high number is left out first
};
constexpr std::array<FunctionKey, 6> function_keys{{{"F1", "Help", 0},
                                                    {"F3", "Search", 1},
                                                    {"F4", "Filter", 2},
                                                    {"F5", "Tree", 3},
                                                    {"F6", "Sort", 0},
                                                    {"F10", "Quit", 0}}};

}  // namespace

Rows help_rows(Signs const& signs, int width) {
  Rows rows;
  constexpr int keys = 19;
  for (Help const& help : helps) {
    auto& row = rows.emplace_back();
    row.add(std::string(help.keys), {Ink::strong});
    row.add_at(keys, cut_to(help.meaning, width - keys, signs));
  }
  rows.emplace_back().add(cut_to(
      "It only looks: there is no key that ends programs. Any key leads back.", width, signs));
  return rows;
}

Rows sort_menu_rows(int chosen, Signs const& signs, int width) {
  Rows rows;
  rows.emplace_back().add("Sort by", {Ink::head});
  rows.back().ground = {Ink::head};
  for (int c = 0; c < column_count; ++c) {
    auto const& kind = kind_of(static_cast<Column>(c));
    auto& row = rows.emplace_back();
    row.ground = {c == chosen ? Ink::chosen : Ink::plain};
    row.add(std::string(kind.title), row.ground);
    constexpr int meanings = 10;
    row.add_at(meanings, cut_to(kind.meaning, width - meanings, signs), row.ground);
  }
  return rows;
}

Row key_row(int width) {
  Row row;
  row.ground = {Ink::label};
  for (int least = 3; least >= 0; --least) {
    row.pieces.clear();
    for (FunctionKey const& f : function_keys) {
      if (f.importance > least) continue;
      row.add(std::string(f.key), {Ink::key});
      row.add(std::string(f.label) + " ", {Ink::label});
    }
    if (row.end() <= width) break;
  }
  return row;
}

}  // namespace nigh::cli::top
