// SPDX-License-Identifier: Apache-2.0
#pragma once
// The programs as a table: their order, the filter, and each column's text.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/frame.hpp"
#include "cli/top/sample.hpp"

namespace nigh::cli::top {

// In order of appearance.
enum class Column : std::uint8_t {
  pid,
  program,
  cpus,
  waiting,
  waited,
  optimum,
  efficiency,
  rate,
  energy,
  region
};

struct ColumnKind {
  std::string_view title;
  std::string_view meaning;
  int width;
  int flexible;    // may be this much wider
  int importance;  // 0: always shown; a high number is left out first on a narrow screen
  bool is_text;    // aligned left; sorted from A on, where numbers begin with the largest
};
constexpr int column_count = 10;
ColumnKind const& kind_of(Column column);

struct Order {
  Column by = Column::pid;
  bool is_inverted = false;
};

// The programs whose name, region or process contains `filter`, in any letter case.
std::vector<coordinator::Status const*> programs_in_order(Sample const& sample, Order order,
                                                          std::string const& filter);
bool is_found(coordinator::Status const& program, Sample const& sample, std::string const& text);

struct PlacedColumn {
  Column column;
  int at = 0, width = 0;
};
// As many as there is room for, the most important ones first.
std::vector<PlacedColumn> placed_columns(int width, bool has_energy);

Row head_row(std::vector<PlacedColumn> const& columns, Order order, Signs const& signs);
Row program_row(std::vector<PlacedColumn> const& columns, coordinator::Status const& program,
                Sample const& sample, Letters const& letters, bool is_chosen, Signs const& signs);

// "340 us", "12 ms", "1.2 s", "4:05": at most seven characters.
std::string duration_text(std::uint64_t us);
// "12.3 J", "4.1 kJ".
std::string energy_text(std::uint64_t uj);

}  // namespace nigh::cli::top
