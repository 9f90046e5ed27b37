// SPDX-License-Identifier: Apache-2.0
#include "cli/top/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <tuple>
#include <utility>

namespace nigh::cli::top {
namespace {

using coordinator::Status;

constexpr std::array<ColumnKind, column_count> kinds{{
    {"PID", "process", 7, 0, 1, false},
    {"PROGRAM", "name", 9, 15, 0, true},
    {"CPUS", "held/wanted by its newest lease or request", 5, 4, 0, false},
    {"WAIT", "how long its oldest request has waited", 7, 0, 2, false},
    {"WAITED", "how long all its requests have waited", 7, 0, 6, false},
    {"OPTIMUM", "learnt: threads the region uses well/at most", 7, 2, 3, false},
    {"EFF%", "learnt: speedup by thread, with what it holds", 4, 0, 4, false},
    {"LEASES/S", "leases granted to it, by the second", 8, 0, 8, false},
    {"ENERGY", "its part of the packages' energy", 8, 0, 7, false},
    {"REGION", "parallel region of the newest lease", 12, 40, 5, true},
}};

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

std::string region_of(Status const& p, Sample const& sample) {
  auto const named = sample.regions.find(p.program);
  if (named != sample.regions.end()) return named->second;
  return p.region == 0 ? "-" : fmt::format("{:#x}", p.region);
}

double rate_of(Status const& p, Sample const& sample) {
  if (!sample.rates) return 0;
  auto const found = sample.rates->granted.find(p.program);
  return found == sample.rates->granted.end() ? 0 : found->second;
}

std::string text_of(Status const& p, Column column, Sample const& sample) {
  switch (column) {
    case Column::pid:
      return std::to_string(p.pid);
    case Column::program:
      return std::string(p.name.view());
    case Column::cpus:
      return p.held + p.wanted == 0 ? "-" : fmt::format("{}/{}", p.held, p.wanted);
    case Column::waiting:
      return p.requests == 0 ? "-" : duration_text(p.waiting_us);
    case Column::waited:
      return duration_text(p.waited_us);
    case Column::optimum:
      return p.learnt.is_known() ? fmt::format("{}/{}", p.learnt.optimal, p.learnt.maximum) : "-";
    case Column::efficiency:
      return p.efficiency == 0 ? "-" : fmt::format("{}", (p.efficiency + 5) / 10);
    case Column::rate:
      return sample.rates ? fmt::format("{:.1f}", rate_of(p, sample)) : "-";
    case Column::energy:
      return energy_text(p.used_uj);
    case Column::region:
      break;
  }
  return region_of(p, sample);
}

// The value by which numbers are sorted.
double value_of(Status const& p, Column column, Sample const& sample) {
  switch (column) {
    case Column::cpus:
      return p.held;
    case Column::waiting:
      return static_cast<double>(p.waiting_us);
    case Column::waited:
      return static_cast<double>(p.waited_us);
    case Column::optimum:
      return p.learnt.optimal;
    case Column::efficiency:
      return p.efficiency;
    case Column::rate:
      return rate_of(p, sample);
    case Column::energy:
      return static_cast<double>(p.used_uj);
    default:
      return -static_cast<double>(p.pid);  // smallest first
  }
}

}  // namespace

ColumnKind const& kind_of(Column column) { return kinds[static_cast<std::size_t>(column)]; }

std::string duration_text(std::uint64_t us) {
  auto const seconds = static_cast<double>(us) / 1e6;
  if (us < 1000) return fmt::format("{} us", us);
  if (us < 1'000'000) return fmt::format("{} ms", us / 1000);
  if (us < 100'000'000) return fmt::format("{:.1f} s", seconds);
  auto const minutes = us / 60'000'000;
  if (minutes < 600) return fmt::format("{}:{:02}", minutes, us / 1'000'000 % 60);
  if (minutes < 60ULL * 1000) return fmt::format("{} h", minutes / 60);
  return fmt::format("{} d", std::min<std::uint64_t>(minutes / 1440, 99'999));
}

std::string energy_text(std::uint64_t uj) {
  auto const joules = static_cast<double>(uj) / 1e6;
  if (joules < 999.95) return fmt::format("{:.1f} J", joules);
  if (joules < 999.95e3) return fmt::format("{:.1f} kJ", joules / 1e3);
  return fmt::format("{:.1f} MJ", joules / 1e6);
}

bool is_found(Status const& program, Sample const& sample, std::string const& text) {
  auto const wanted = lower(text);
  for (auto const& where :
       {std::string(program.name.view()), region_of(program, sample), std::to_string(program.pid)})
    if (lower(where).find(wanted) != std::string::npos) return true;
  return false;
}

std::vector<Status const*> programs_in_order(Sample const& sample, Order order,
                                             std::string const& filter) {
  std::vector<Status const*> rows;
  if (!sample.status) return rows;
  for (auto const& p : sample.status->programs)
    if (filter.empty() || is_found(p, sample, filter)) rows.push_back(&p);
  auto const before = [&](Status const* a, Status const* b) {
    if (order.is_inverted) std::swap(a, b);
    if (kind_of(order.by).is_text)
      return lower(text_of(*a, order.by, sample)) < lower(text_of(*b, order.by, sample));
    return value_of(*a, order.by, sample) > value_of(*b, order.by, sample);
  };
  std::stable_sort(rows.begin(), rows.end(), before);
  return rows;
}

std::vector<PlacedColumn> placed_columns(int width, bool has_energy) {
  constexpr int letter = 2;
  std::vector<Column> all;
  for (int c = 0; c < column_count; ++c)
    if (auto const column = static_cast<Column>(c); has_energy || column != Column::energy)
      all.push_back(column);
  auto const needed = [&] {
    int sum = letter - 1;
    for (Column c : all) sum += 1 + kind_of(c).width;
    return sum;
  };
  while (needed() > width) {
    auto const least = std::max_element(all.begin(), all.end(), [](Column a, Column b) {
      return kind_of(a).importance < kind_of(b).importance;
    });
    if (kind_of(*least).importance == 0) break;
    all.erase(least);
  }
  // Remaining space goes to names first, then to the other columns, from the left.
  int rest = std::max(0, width - needed());
  std::vector<PlacedColumn> placed;
  for (Column c : all) placed.push_back({c, 0, kind_of(c).width});
  auto const widen = [&](Column which, int most) {
    for (auto& p : placed)
      if (p.column == which) {
        int const more = std::min({rest, most, kind_of(which).flexible});
        p.width += more;
        rest -= more;
      }
  };
  widen(Column::program, 7);
  widen(Column::region, 10);
  widen(Column::cpus, 4);
  widen(Column::optimum, 2);
  for (auto& p : placed)
    if (p.column == Column::program || p.column == Column::region) {
      int const more =
          std::min(rest, kind_of(p.column).width + kind_of(p.column).flexible - p.width);
      p.width += more;
      rest -= more;
    }
  int at = letter;
  for (auto& p : placed) {
    p.at = at;
    at += p.width + 1;
  }
  return placed;
}

Row head_row(std::vector<PlacedColumn> const& columns, Order order, Signs const& signs) {
  Row row;
  row.ground = {Ink::head};
  for (auto const& p : columns) {
    auto const& kind = kind_of(p.column);
    std::string title(kind.title);
    bool const is_sorted = p.column == order.by;
    // The arrow points towards the largest.
    bool const rises =
        kind.is_text || p.column == Column::pid ? !order.is_inverted : order.is_inverted;
    if (is_sorted && static_cast<int>(title.size()) < p.width)
      title += rises ? signs.ascending : signs.descending;
    title = cut_to(title, p.width, signs);
    int const at = kind.is_text ? p.at : p.at + p.width - width_of(title);
    row.add_at(at, title, {is_sorted ? Ink::sorted : Ink::head});
  }
  return row;
}

Row program_row(std::vector<PlacedColumn> const& columns, Status const& program,
                Sample const& sample, Letters const& letters, bool is_chosen, Signs const& signs) {
  Row row;
  Style const style{is_chosen ? Ink::chosen : Ink::plain};
  row.ground = style;
  row.add_at(0, std::string(1, letters.of(program.program)),
             {Ink::program, letters.colour_of(program.program), is_chosen});
  for (auto const& p : columns) {
    auto const whole = printable(text_of(program, p.column, sample), signs);
    // The line is the most telling part of a region's name.
    auto const text = p.column == Column::region ? cut_front_to(whole, p.width, signs)
                                                 : cut_to(whole, p.width, signs);
    int const at = kind_of(p.column).is_text ? p.at : p.at + p.width - width_of(text);
    bool const waits = p.column == Column::waiting && program.requests > 0 && !is_chosen;
    row.add_at(at, text, waits ? Style{Ink::warning} : style);
  }
  return row;
}

}  // namespace nigh::cli::top
