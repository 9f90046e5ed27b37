// SPDX-License-Identifier: Apache-2.0
// The output of nigh sim table1: text and JSON lines.

#include "sim/jacobi/table1.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"
#include "sim/jacobi/fit.hpp"
#include "sim/jacobi/loop_sweep.hpp"
#include "sim/machine.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {

namespace {

struct Table1Cells {
  sim::Table1Cell cell;
  std::vector<double> mlups;  // one a seed
};

struct LoopCell {
  sim::JacobiLoop what;
  std::optional<double> published;  // where the text says what it is as fast as
  std::vector<double> mlups;        // one a seed
};

struct LoopStudy {
  sim::Machine machine;
  int threads = 2;  // on a socket
  int layers = 60;
  std::vector<LoopCell> cells;
};

struct Table1Study {
  sim::Machine machine;
  bool is_the_papers = false;  // or one like it
  bool has_published = false;  // figures, for the paper ran the same on it
  std::uint64_t seed = 1;
  int seeds = 5, layers = 60, waiting = 256;
  std::vector<Table1Cells> table;
  std::vector<LoopStudy> loops;      // the machine's, then the uniform one's beside it
  std::vector<sim::Table1Fit> fits;  // the first to all cells, then without each; or none
};

// The study of Table 1 and Figs. 1-2 as tables for people, published figures beside simulated ones,
// and as lines for scripts.

double error(Table1Cells const& c) { return tune::median(c.mlups) / c.cell.published - 1; }

// Columns that have nothing leave no spaces at the end.
std::string trimmed(std::string text) {
  for (auto end = text.find(" \n"); end != text.npos; end = text.find(" \n")) {
    auto const last = text.find_last_not_of(' ', end);
    text.erase(last + 1, end - last);
  }
  return text;
}

std::string schedule_name(sim::JacobiLoop const& what) {
  return what.schedule == schedule_kind::dynamic ? "dynamic" : "static";
}

std::string pages_name(sim::JacobiLoop const& what) {
  return what.pages == sim::LoopPages::own ? "own" : "domain 0";
}

// Published and error, or nothing.
std::string beside(std::optional<double> published, double simulated) {
  if (!published) return fmt::format("{:>11}{:>11.1f}{:>10}", "", simulated, "");
  return fmt::format("{:>11.1f}{:>11.1f}{:>+9.1f}%", *published, simulated,
                     100 * (simulated / *published - 1));
}

std::string table_text(Table1Study const& s) {
  std::string text =
      fmt::format("{:10}{:8}{:8}{:>11}{:>11}{:>10}\n", "pages", "order", "tasks",
                  s.has_published ? "published" : "", "simulated", s.has_published ? "error" : "");
  double squares = 0, worst = 0;
  for (auto const& c : s.table) {
    auto const& w = c.cell.what;
    std::optional<double> published;
    if (s.has_published) published = c.cell.published;
    text += fmt::format("{:10}{:8}{:8}{}\n", w.round_robin ? "static,1" : "static",
                        w.j_outermost ? "jki" : "kji", w.queues ? "queues" : "plain",
                        beside(published, tune::median(c.mlups)));
    squares += error(c) * error(c);
    worst = std::max(worst, std::abs(error(c)));
  }
  if (!s.has_published) return text;
  return text + fmt::format("\nlargest error {:.1f}%, rms {:.1f}%\n", 100 * worst,
                            100 * std::sqrt(squares / static_cast<double>(s.table.size())));
}

// Beside that of the same loop on one socket.
double efficiency(LoopStudy const& loops, LoopCell const& cell) {
  auto const one = std::find_if(loops.cells.begin(), loops.cells.end(), [&](LoopCell const& c) {
    return c.what.schedule == cell.what.schedule && c.what.pages == cell.what.pages;
  });
  return tune::median(cell.mlups) / tune::median(one->mlups) / cell.what.sockets;
}

std::string loops_text(LoopStudy const& loops, bool has_published) {
  std::string text = fmt::format(
      "\n{}\nloops over {} layers, {} threads a "
      "socket\n\n{:10}{:10}{:>7}{:>12}{:>11}{:>10}{:>12}\n",
      loops.machine.title, loops.layers, loops.threads, "schedule", "pages", "sockets",
      has_published ? "published" : "", "simulated", has_published ? "error" : "", "efficiency");
  for (auto const& c : loops.cells)
    text += fmt::format("{:10}{:10}{:>7} {}{:>11.0f}%\n", schedule_name(c.what), pages_name(c.what),
                        c.what.sockets, beside(c.published, tune::median(c.mlups)),
                        100 * efficiency(loops, c));
  return text;
}

LoopCell const& on_all_sockets(LoopStudy const& loops, schedule_kind schedule) {
  auto const found = std::find_if(loops.cells.begin(), loops.cells.end(), [&](LoopCell const& c) {
    return c.what.schedule == schedule && c.what.pages == sim::LoopPages::own &&
           c.what.sockets == sim::sockets_of(loops.machine);
  });
  return *found;
}

// The statements of the paper's text that have no number.
std::string words_text(Table1Study const& s) {
  if (!s.has_published) return {};
  double queues = 0;
  for (auto const& c : s.table)
    if (c.cell.what.queues) queues = std::max(queues, tune::median(c.mlups));
  double const fixed =
      tune::median(on_all_sockets(s.loops.front(), schedule_kind::static_blocks).mlups);
  auto text =
      fmt::format("\n{:52}{:>18}{:>11}\n{:52}{:>18}{:>+10.1f}%\n", "what the text says",
                  "published", "simulated", "static loop on 4 sockets, beside the best queues",
                  "0% to +10%", 100 * (fixed / queues - 1));
  for (auto const& loops : s.loops) {
    if (loops.machine.links.domains() > 1) continue;
    double worst = 0;
    for (auto const& c : loops.cells)
      for (auto const& o : loops.cells)
        if (c.what.sockets == o.what.sockets)
          worst = std::max(worst, tune::median(c.mlups) / tune::median(o.mlups) - 1);
    text += fmt::format("{:52}{:>18}{:>10.1f}%\n", "uniform memory: schedules differ by at most",
                        "negligibly", 100 * worst);
  }
  return text;
}

std::string cell_name(sim::Jacobi2009Tasks const& w) {
  return fmt::format("{:10}{:8}{:8}", w.round_robin ? "static,1" : "static",
                     w.j_outermost ? "jki" : "kji", w.queues ? "queues" : "plain");
}

std::string fits_text(Table1Study const& s) {
  if (s.fits.empty()) return {};
  std::string text = fmt::format(
      "\nFour numbers of the machine's memory fitted anew, without one cell each time; seed {}\n\n"
      "{:26}{:>9}{:>9}{:>12}{:>10}{:>10}{:>12}\n",
      s.seed, "left out", "thread", "per hop", "controller", "crowding", "rms", "left out's");
  for (auto const& fit : s.fits) {
    auto const name = fit.left_out < 0
                          ? std::string("none")
                          : cell_name(sim::table1[static_cast<std::size_t>(fit.left_out)].what);
    text += fmt::format("{:26}{:>9.2f}{:>9.2f}{:>12.2f}{:>10.3f}{:>9.1f}%", name,
                        fit.machine.thread_gb_per_s.value, fit.machine.per_hop.value,
                        fit.machine.controller_gb_per_s.value, fit.machine.crowding.value,
                        100 * fit.rms);
    text += fit.left_out < 0 ? std::string("\n") : fmt::format("{:>+11.1f}%\n", 100 * fit.error());
  }
  return text;
}

std::string table_lines(Table1Study const& s) {
  std::string text;
  for (auto const& c : s.table) {
    auto const& w = c.cell.what;
    SimResult r;
    r.bench = "sim/table1";
    r.variant = w.queues ? "queues" : "tasks";
    r.params = {{"seed", static_cast<long>(s.seed)}, {"layers", s.layers}, {"waiting", s.waiting}};
    r.settings = {{"machine", s.machine.name},
                  {"init", w.round_robin ? "static,1" : "static"},
                  {"order", w.j_outermost ? "jki" : "kji"}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = c.mlups;
    if (s.has_published) r.counters = {{"published", c.cell.published}, {"error", error(c)}};
    text += json_line(r, s.machine);
  }
  return text;
}

std::string loop_lines(LoopStudy const& loops, std::uint64_t seed) {
  std::string text;
  for (auto const& c : loops.cells) {
    SimResult r;
    r.bench = "sim/table1/loops";
    r.variant = schedule_name(c.what);
    r.params = {{"seed", static_cast<long>(seed)},
                {"sockets", c.what.sockets},
                {"threads", c.what.threads},
                {"layers", c.what.layers}};
    r.settings = {{"machine", loops.machine.name}, {"pages", pages_name(c.what)}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = c.mlups;
    r.counters = {{"efficiency", efficiency(loops, c)}};
    if (c.published)
      r.counters.insert(
          {{"published", *c.published}, {"error", tune::median(c.mlups) / *c.published - 1}});
    text += json_line(r, loops.machine);
  }
  return text;
}

std::string fit_lines(Table1Study const& s) {
  std::string text;
  for (auto const& fit : s.fits) {
    if (fit.left_out < 0) continue;
    auto const& cell = sim::table1[static_cast<std::size_t>(fit.left_out)];
    SimResult r;
    r.bench = "sim/table1/left-out";
    r.variant = cell.what.queues ? "queues" : "tasks";
    r.params = {{"seed", static_cast<long>(s.seed)}};
    r.settings = {{"machine", s.machine.name},
                  {"init", cell.what.round_robin ? "static,1" : "static"},
                  {"order", cell.what.j_outermost ? "jki" : "kji"}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = {fit.simulated};
    r.counters = {{"published", cell.published},
                  {"error", fit.error()},
                  {"rms_of_others", fit.rms},
                  {"thread_gb_per_s", fit.machine.thread_gb_per_s.value},
                  {"per_hop", fit.machine.per_hop.value},
                  {"controller_gb_per_s", fit.machine.controller_gb_per_s.value},
                  {"crowding", fit.machine.crowding.value}};
    text += json_line(r, s.machine);
  }
  return text;
}

std::string describe(Table1Study const& s) {
  std::string text = fmt::format(
      "{}\nMLUP/s of a Jacobi sweep over 600^3 sites in {} tasks; medians of {} seeds\n\n",
      s.machine.title, 60 * s.layers, s.seeds);
  text += table_text(s);
  for (auto const& loops : s.loops) text += loops_text(loops, s.has_published);
  return trimmed(text + words_text(s) + fits_text(s));
}

std::string result_lines(Table1Study const& s) {
  auto text = table_lines(s);
  for (auto const& loops : s.loops) text += loop_lines(loops, s.seed);
  return text + fit_lines(s);
}

// nigh sim table1: tasks with and without locality queues, and loops, on the machines of the paper
// on locality queues.

constexpr char const* papers_machine = "opteron-4x2";
constexpr char const* uniform_machine = "dunnington-4x6";  // the paper's other one
constexpr int fit_evaluations = 220;

struct Table1Flags {
  std::string machine = papers_machine;
  SimSeeds random;
  int layers = 60, waiting = 256;
  bool leave_one_out = false;
  SimOutput output{"sim_table1", {}, {}};
};

template <class Simulate>
std::vector<double> each_seed(Table1Flags const& f, Simulate simulate) {
  std::vector<double> mlups;
  for (int s = 0; s < f.random.seeds; ++s)
    mlups.push_back(simulate(f.random.seed + static_cast<std::uint64_t>(s)));
  return mlups;
}

// The text: with all pages in domain 0 as fast as tasks under static/kji; dynamic on two sockets as
// static/jki, on four as static,1/jki.
std::optional<double> published(sim::JacobiLoop const& what) {
  if (what.pages == sim::LoopPages::first_domain && what.sockets == 4) return 149.8;
  if (what.pages != sim::LoopPages::own || what.schedule != schedule_kind::dynamic) return {};
  if (what.sockets == 2) return 247.9;
  if (what.sockets == 4) return 412.7;
  return {};
}

// On the paper's machines two threads a socket, elsewhere all there are.
LoopStudy loops_on(sim::Machine machine, Table1Flags const& f, bool is_one_of_the_papers,
                   bool has_published) {
  int const cpus = static_cast<int>(machine.shape.groups(level::package).front().size());
  LoopStudy study{std::move(machine), is_one_of_the_papers ? 2 : cpus, f.layers, {}};
  using enum schedule_kind;
  for (auto const& [schedule, pages] :
       {std::pair{static_blocks, sim::LoopPages::own}, std::pair{dynamic, sim::LoopPages::own},
        std::pair{static_blocks, sim::LoopPages::first_domain}}) {
    if (pages == sim::LoopPages::first_domain && study.machine.links.domains() == 1) continue;
    for (int n = 1; n <= sim::sockets_of(study.machine); ++n) {
      sim::JacobiLoop const what{schedule, pages, n, study.threads, f.layers};
      study.cells.push_back(
          {what, has_published ? published(what) : std::nullopt, each_seed(f, [&](std::uint64_t s) {
             return sim::jacobi_loop_mlups(study.machine, what, s);
           })});
    }
  }
  return study;
}

Table1Study simulate(Table1Flags const& f) {
  Table1Study study{machine_for("--machine", f.machine),
                    false,
                    false,
                    f.random.seed,
                    f.random.seeds,
                    f.layers,
                    f.waiting,
                    {},
                    {},
                    {}};
  study.is_the_papers = study.machine.shape.cpu_domains() == 4 &&
                        study.machine.shape.cpus().size() == 8 &&
                        sim::sockets_of(study.machine) == 4;
  bool const is_one = study.is_the_papers || f.machine == uniform_machine;
  study.has_published = study.is_the_papers && f.layers == 60 && f.waiting == 256;
  for (auto cell : sim::table1) {
    cell.what.layers = f.layers;
    cell.what.most_waiting = f.waiting;
    study.table.push_back({cell, each_seed(f, [&](std::uint64_t s) {
                             return sim::jacobi_mlups(study.machine, cell.what, s);
                           })});
  }
  study.loops.push_back(loops_on(study.machine, f, is_one, study.has_published));
  if (f.machine == papers_machine)
    study.loops.push_back(loops_on(machine_for("--machine", uniform_machine), f, true, false));
  if (f.leave_one_out)
    for (int out = -1; out < static_cast<int>(sim::table1.size()); ++out)
      study.fits.push_back(sim::fit_table1(study.machine, out, f.random.seed, fit_evaluations));
  return study;
}

void run(Table1Flags const& f) {
  f.output.check();
  auto const study = simulate(f);
  auto const text = describe(study);
  auto const lines = result_lines(study);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_table1(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "table1", "Tasks, locality queues and loops of a Jacobi sweep: the paper on locality queues");
  auto const f = std::make_shared<Table1Flags>();
  add_machine(*command, f->machine);
  f->random.add_to(*command);
  command->add_option("--layers", f->layers, "Of blocks, along k (60)")
      ->type_name("N")
      ->check(CLI::Range(1, 600));
  command
      ->add_option("--waiting", f->waiting,
                   "Tasks that may wait before their submitter runs one (256)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--leave-one-out", f->leave_one_out,
                    "Fit the machine's memory to all cells but one, for each; takes minutes");
  f->output.add_to(*command);
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
