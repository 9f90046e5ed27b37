// SPDX-License-Identifier: Apache-2.0
#include "cli/top/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "base/cpu_list.hpp"

namespace nigh::cli::top {
namespace {

using coordinator::Status;

std::vector<int> numbers_of(coordinator::CpuSet const& set) {
  std::vector<int> cpus;
  for (int c = 0; c < coordinator::max_cpus; ++c)
    if (set.has(c)) cpus.push_back(c);
  return cpus;
}

std::vector<CpuSign> signs_of(Scene const& scene, std::uint32_t chosen) {
  std::vector<CpuSign> cpus(coordinator::max_cpus);
  auto const& status = scene.sample.status;
  if (!status) return cpus;
  for (int c : numbers_of(status->host.external_load))
    cpus[static_cast<std::size_t>(c)] = {'#', {Ink::external}};
  for (Status const& p : status->programs) {
    Style const style{Ink::program, scene.letters.colour_of(p.program), p.program == chosen};
    for (int c : numbers_of(p.holds))
      cpus[static_cast<std::size_t>(c)] = {scene.letters.of(p.program), style};
  }
  return cpus;
}

void append(Rows& rows, Rows more) {
  std::move(more.begin(), more.end(), std::back_inserter(rows));
}

Rows part_of(Rows rows, int first, int count) {
  auto const n = static_cast<int>(rows.size());
  first = std::clamp(first, 0, std::max(0, n - count));
  return {rows.begin() + first, rows.begin() + std::min(n, first + count)};
}

Rows program_rows(Scene const& scene, std::vector<Status const*> const& programs, Order order,
                  std::uint32_t chosen, int width) {
  bool const has_energy = scene.sample.status && scene.sample.status->host.measures_energy != 0;
  auto const columns = placed_columns(width, has_energy);
  Rows rows{head_row(columns, order, scene.signs)};
  for (Status const* p : programs)
    rows.push_back(
        program_row(columns, *p, scene.sample, scene.letters, p->program == chosen, scene.signs));
  return rows;
}

// "npb-cg holds cpus 0-3, has had 35 leases; ..."
std::string more_about(Status const& p, Sample const& sample) {
  auto const cpus = base::cpu_list(numbers_of(p.holds));
  auto text = fmt::format("{} ({}) holds {}", p.name.view(), p.pid,
                          cpus.empty() ? "no cpu" : (p.held == 1 ? "cpu " : "cpus ") + cpus);
  if (auto const region = sample.regions.find(p.program); region != sample.regions.end())
    text += ", at " + region->second;
  if (p.learnt.is_known())
    text += fmt::format(", which uses {} well and {} at most", p.learnt.optimal, p.learnt.maximum);
  text += fmt::format("; {} leases so far, waited {}", p.granted, duration_text(p.waited_us));
  if (p.ran_unplaced > 0) text += fmt::format(", {} unplaced", p.ran_unplaced);
  if (p.tasks > 0) text += fmt::format(", {} tasks, {} stolen", p.tasks, p.stolen);
  if (auto const pools = sample.pools.find(p.program); pools != sample.pools.end())
    text += "; on no granted cpus: " + pools->second;
  return text;
}

Row last_row(View const& view, Scene const& scene, int width, std::optional<int>& caret) {
  if (!view.prompt) return key_row(width);
  Row row;
  row.ground = {Ink::label};
  using For = Prompt::For;
  row.add(view.prompt->what == For::search   ? "Search: "
          : view.prompt->what == For::filter ? "Filter: "
                                             : "Seconds between looks: ",
          {Ink::label});
  row.add(printable(view.prompt->text, scene.signs), {Ink::label});
  caret = std::min(row.end(), width - 1);
  constexpr int hints = 24;
  std::string_view const hint = view.prompt->what == For::search   ? "Enter done  F3 next"
                                : view.prompt->what == For::filter ? "Enter done  Esc all"
                                                                   : "Enter done  Esc no";
  if (row.end() + hints < width)
    row.add_at(width - width_of(hint), std::string(hint), {Ink::label});
  return row;
}

Row more_row(View const& view, Scene const& scene, int width) {
  Row row;
  if (!view.notice.empty()) {
    row.add(cut_to(view.notice, width, scene.signs), {Ink::warning});
  } else if (scene.sample.status) {
    for (Status const& p : scene.sample.status->programs)
      if (p.program == view.chosen)
        row.add(cut_to(printable(more_about(p, scene.sample), scene.signs), width, scene.signs),
                {Ink::faint});
  }
  return row;
}

Rows machine_part(View const& view, Scene const& scene, int width, int most) {
  auto rows = machine_rows(scene.machine, signs_of(scene, view.chosen), width, most, scene.signs);
  auto const n = static_cast<int>(rows.size());
  if (n <= most) return rows;
  rows.resize(static_cast<std::size_t>(std::max(0, most - 1)));
  rows.emplace_back().add(
      cut_to(fmt::format("{} more rows of cpus: t", n - most + 1), width, scene.signs),
      {Ink::faint});
  return rows;
}

}  // namespace

Screen lay_out(View& view, Scene const& scene, int width, int height) {
  Screen screen;
  auto& rows = screen.rows;
  bool const is_high = height >= 16;
  int const below = height >= 12 ? 2 : 1;  // the rows that end the screen
  rows = header_rows(scene, &view, width, is_high ? 6 : 3);
  if (is_high) rows.emplace_back();
  int const body = std::max(1, height - static_cast<int>(rows.size()) - below);

  auto const programs = programs_in_order(scene.sample, view.order, view.filter);
  auto const count = static_cast<int>(programs.size());
  auto const add_programs = [&](int room) {
    screen.room.programs = std::max(1, room - 1);
    follow(view, scene.sample, screen.room.programs);
    auto table = program_rows(scene, programs, view.order, view.chosen, width);
    rows.push_back(table.front());
    table.erase(table.begin());
    append(rows, part_of(std::move(table), view.first_program, screen.room.programs));
  };
  screen.room.machine = body;
  if (view.shows_help) {
    append(rows, part_of(help_rows(scene.signs, width), 0, body));
  } else if (view.sort_menu) {
    int const above = std::max(0, *view.sort_menu + 2 - body);
    append(rows, part_of(sort_menu_rows(*view.sort_menu, scene.signs, width), above, body));
  } else if (view.show == Show::programs) {
    add_programs(body);
  } else if (view.show == Show::machine) {
    follow(view, scene.sample, 1);
    auto all = machine_rows(scene.machine, signs_of(scene, view.chosen), width, body, scene.signs);
    view.first_machine =
        std::min(view.first_machine, std::max(0, static_cast<int>(all.size()) - body));
    append(rows, part_of(std::move(all), view.first_machine, body));
  } else {
    int const gap = is_high ? 1 : 0;
    int const left = body - gap - 1 - std::max(1, count);
    int const first = view.first_program;
    follow(view, scene.sample, 1);  // before the machine shows the cpus of the chosen program
    auto machine = machine_part(view, scene, width, std::max((body - gap) / 2, left));
    auto const used = static_cast<int>(machine.size()) + gap;
    append(rows, std::move(machine));
    if (gap > 0) rows.emplace_back();
    view.first_program = first;
    add_programs(body - used);
  }
  rows.resize(static_cast<std::size_t>(std::max(0, height - below)));
  if (below > 1) rows.push_back(more_row(view, scene, width));
  rows.push_back(last_row(view, scene, width, screen.caret));
  return screen;
}

Rows report(Scene const& scene, int width) {
  auto rows = header_rows(scene, nullptr, width, std::numeric_limits<int>::max());
  rows.emplace_back();
  append(rows, machine_rows(scene.machine, signs_of(scene, 0), width,
                            std::numeric_limits<int>::max(), scene.signs));
  if (!scene.sample.status || scene.sample.status->programs.empty()) return rows;
  rows.emplace_back();
  append(rows, program_rows(scene, programs_in_order(scene.sample, {}, {}), {}, 0, width));
  return rows;
}

}  // namespace nigh::cli::top
