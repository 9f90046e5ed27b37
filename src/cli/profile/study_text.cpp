// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/study_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/printable.hpp"
#include "cli/profile/durations.hpp"
#include "coordinator/profile/region_profile.hpp"

namespace nigh::cli {
namespace {

constexpr std::size_t most_rows = 40;     // regions
constexpr std::size_t most_columns = 12;  // sizes
constexpr double worth_a_row = 0.001;     // of the time

using Regions = std::vector<StudiedRegion const*>;

// The regions that take some time; at least the first.
Regions rows_of(StudiedProgram const& program) {
  Regions rows;
  for (auto const& region : program.regions)
    if (rows.empty() || (region.share >= worth_a_row && rows.size() < most_rows))
      rows.push_back(&region);
  return rows;
}

std::vector<int> columns_of(Study const& study, Regions const& rows) {
  std::set<int> sizes;
  for (auto const& w : study.whole) sizes.insert(w.team);
  for (auto const* region : rows)
    for (auto const& team : region->teams) sizes.insert(team.threads);
  if (sizes.size() > most_columns)
    std::erase_if(sizes, [last = *sizes.rbegin()](int n) {
      return !std::has_single_bit(static_cast<unsigned>(n)) && n != last;
    });
  return {sizes.begin(), sizes.end()};
}

class Table {
 public:
  Table(std::vector<int> columns, std::size_t width) : columns_(std::move(columns)), width_(width) {
    text_ =
        fmt::format("{:<{}}  {:>9}  {:>6}  {:<7}", "region", width_, "runs", "share", "threads");
    for (int const n : columns_) text_ += fmt::format("  {:>8}", n);
    text_ += "  maximum  optimal\n";
  }

  template <class Cell>
  void row(std::string const& name, std::string const& runs, std::string const& share,
           char const* what, Cell const& cell, std::string const& end = {}) {
    auto line =
        fmt::format("{:<{}.{}}  {:>9}  {:>6}  {:<7}", name, width_, width_, runs, share, what);
    for (int const n : columns_) line += fmt::format("  {:>8}", cell(n));
    line += end;
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + '\n';
  }
  void line(std::string const& text) { text_ += text + '\n'; }
  std::string const& text() const { return text_; }

 private:
  std::vector<int> columns_;
  std::size_t width_;
  std::string text_;
};

// By number of threads; empty where there is no such team.
template <class Value>
auto cell_of(std::vector<TeamSamples> const& teams, Value const& value) {
  return [&teams, value](int n) -> std::string {
    for (auto const& team : teams)
      if (team.threads == n) return value(team);
    return "";
  };
}

std::string percent(double part) { return fmt::format("{:.1f}%", 100 * part); }

// With its address where several have the same line: instances of a template.
std::string label_of(StudiedProgram const& program, StudiedRegion const& region) {
  auto const name = short_name(region.code);
  auto const same = std::count_if(program.regions.begin(), program.regions.end(),
                                  [&](auto const& r) { return short_name(r.code) == name; });
  return same > 1 ? name + ' ' + coordinator::region_name(region.id) : name;
}

// Without times of one thread there is nothing to compare with.
std::string speedup_text(int smallest, double speedup) {
  return smallest == 1 ? fmt::format("{:.2f}", speedup) : "-";
}

void add_region(Table& table, StudiedRegion const& region, std::string const& label,
                bool shows_spread) {
  std::uint64_t runs = 0;
  for (auto const& team : region.teams)
    runs = std::max(runs, team.runs / std::max<std::size_t>(1, team.samples_ns.size()));
  auto const counts =
      region.demand ? fmt::format("  {:>7}  {:>7}", region.demand->maximum, region.demand->optimal)
                    : std::string("  fixed");
  table.row(label, std::to_string(runs), percent(region.share), "time",
            cell_of(region.teams, [](auto const& t) { return duration_text(t.ns()); }), counts);
  auto const function = function_of(region.code);
  if (region.demand)
    table.row(function, "", "", "speedup", cell_of(region.teams, [&](auto const& t) {
                return speedup_text(region.teams.front().threads, region.speedup(t));
              }));
  if (shows_spread)
    table.row(region.demand ? "" : function, "", "", "spread",
              cell_of(region.teams, [](auto const& t) { return percent(t.spread()); }));
}

// The whole program, including the time outside of regions.
void add_whole(Table& table, std::vector<WholeRun> const& whole) {
  auto const seconds = [&](int n) -> double {
    for (auto const& w : whole)
      if (w.team == n) return median_of(w.seconds);
    return 0;
  };
  int const smallest = whole.front().team;
  table.row("all of the program", "", "", "time", [&](int n) {
    return seconds(n) > 0 ? duration_text(1e9 * seconds(n)) : std::string();
  });
  table.row("", "", "", "speedup", [&](int n) {
    return seconds(n) > 0 ? speedup_text(smallest, seconds(smallest) / seconds(n)) : std::string();
  });
}

std::string text_of(Study const& study, StudiedProgram const& program) {
  auto const rows = rows_of(program);
  std::size_t width = 18;
  for (auto const* region : rows)
    width = std::clamp(label_of(program, *region).size(), width, std::size_t{40});
  Table table(columns_of(study, rows), width);
  bool const shows_spread = study.whole.front().seconds.size() > 1;
  for (auto const* region : rows)
    add_region(table, *region, label_of(program, *region), shows_spread);
  if (auto const others = program.regions.size() - rows.size(); others > 0) {
    double rest = 0;
    for (auto const& region : program.regions) rest += region.share;
    for (auto const* region : rows) rest -= region->share;
    table.line(fmt::format("{} more, {} of the time", others, percent(rest)));
  }
  add_whole(table, study.whole);
  return table.text();
}

}  // namespace

double widest_spread(Study const& study) {
  constexpr double counts = 0.05;  // of the time
  double widest = 0;
  for (auto const& program : study.programs)
    for (auto const& region : program.regions)
      for (auto const& team : region.teams)
        if (region.share >= counts && region.demand) widest = std::max(widest, team.spread());
  return widest;
}

std::string study_text(Study const& study) {
  std::string text;
  for (auto const& program : study.programs)
    text += (study.programs.size() > 1 ? base::printable(program.path) + ":\n" : "") +
            text_of(study, program);
  text +=
      "time: of a region, mean of its runs; median of the program's runs, whose spread is from the "
      "least to the most\n"
      "share: of the program's time with the smallest team; fixed: the program chooses the team\n"
      "maximum: no larger team saves 3% of the time; optimal: the largest within 20% of ideal "
      "speedup\n";
  return text;
}

}  // namespace nigh::cli
