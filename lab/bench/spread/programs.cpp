// SPDX-License-Identifier: Apache-2.0
// Programs with task loops, ready to be run again and again with one way to spread.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nigh/array.hpp>
#include <nigh/spread.hpp>
#include <string>
#include <thread>
#include <variant>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/spread/study.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "jacobi3d/teams.hpp"
#include "nigh_options.hpp"
#include "npb_mg/teams.hpp"
#include "npb_mg/variant.hpp"
#include "platform/progress.hpp"
#include "tasks/sparselu.hpp"

namespace bench {

namespace {

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual double run() = 0;             // seconds
  virtual bool verified() = 0;          // of the last run
  virtual bool holds() const = 0;       // its loops try nothing any more
  virtual int most_trials() const = 0;  // of a loop
};

// One program with its memory, which its contestants share.
struct ContestProgram {
  std::string name, size;
  std::function<std::unique_ptr<Contestant>(nigh::spread spread, int active)> make;
};

double seconds_of(std::function<void()> const& body) {
  auto const begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Team>
Team team_for(SpreadOptions const& o) {
  Team team;
  team.machine = &o.machine;
  team.cpus = cpus_for(o.threads, o.machine);
  team.pin = pin_this_thread;
  return team;
}

// A program that has spreads of its own.
template <class Spreading>
class WithSpreads : public Contestant {
 public:
  bool holds() const override { return spreads().hold(); }
  int most_trials() const override { return spreads().most_trials(); }

 protected:
  virtual typename Spreading::Spreads const& spreads() const = 0;
};

struct JacobiFields {
  explicit JacobiFields(int side)
      : plan{jacobi3d::Grid({side, side, side}),
             jacobi3d::Blocks({side, side, side}, {side, 10, 10}),
             {},
             {}},
        all(2 * plan.grid.elements(), nigh::placement::blocked()) {
    fill();
    for (int s = 0; s < sweeps; ++s)
      jacobi3d::reference_sweep(plan.grid, field(s), field(s + 1), 0, side);
    expected = checksum();
  }

  double* field(int step) noexcept {
    return all.data() + (step % 2 == 0 ? 0 : plan.grid.elements());
  }
  // The second one gets its boundary.
  void fill() {
    for (int step : {0, 1})
      jacobi3d::fill_planes(plan.grid, field(step), -1, plan.grid.interior.k + 1);
  }
  std::uint64_t checksum() {
    return jacobi3d::checksum_planes(plan.grid, field(sweeps), 0, plan.grid.interior.k);
  }

  static constexpr int sweeps = 8;
  jacobi3d::Plan plan;
  nigh::array<double> all;
  std::uint64_t expected = 0;
};

class Jacobi : public WithSpreads<jacobi3d::OnTeams> {
 public:
  Jacobi(std::shared_ptr<JacobiFields> fields, SpreadOptions const& o, nigh::spread spread,
         int active)
      : fields_(std::move(fields)), variant_(team_for<jacobi3d::Team>(o), spread, active) {
    kernel_ = jacobi3d::find_kernel(o.kernel->isa, true);
    if (kernel_ == nullptr) kernel_ = jacobi3d::find_kernel("", false);
  }
  double run() override {
    fields_->fill();
    return seconds_of([&] {
      for (int s = 0; s < JacobiFields::sweeps; ++s) {
        jacobi3d::Sweep sweep;
        sweep.plan = &fields_->plan;
        sweep.kernel = kernel_;
        sweep.from = fields_->field(s);
        sweep.to = fields_->field(s + 1);
        variant_.sweep(sweep);
      }
    });
  }
  bool verified() override { return fields_->checksum() == fields_->expected; }

 private:
  jacobi3d::OnTeams::Spreads const& spreads() const override { return variant_.spreads(); }

  std::shared_ptr<JacobiFields> fields_;
  jacobi3d::Kernel const* kernel_;
  jacobi3d::OnTeams variant_;
};

struct MgFields {
  MgFields(SpreadOptions const& o, npb_mg::Class const& size_)
      : size(size_),
        fields(size_, {.machine = &o.machine}),
        charges(npb_mg::find_charges(size_.n, o.threads)) {}
  npb_mg::Class const& size;
  npb_mg::Fields fields;
  npb_mg::Charges charges;
};

class Multigrid : public WithSpreads<npb_mg::TeamLoops> {
 public:
  Multigrid(std::shared_ptr<MgFields> fields, SpreadOptions const& o, nigh::spread spread,
            int active)
      : fields_(std::move(fields)), variant_(team(o), spread, active) {}
  double run() override {
    auto const r = npb_mg::run(variant_, fields_->fields, fields_->size, fields_->charges);
    verified_ = r.verified;
    return r.seconds;
  }
  bool verified() override { return verified_; }

 private:
  static npb_mg::Team team(SpreadOptions const& o) {
    auto t = team_for<npb_mg::Team>(o);
    t.kernel = npb_mg::find_kernel(o.kernel->isa);
    return t;
  }
  npb_mg::TeamLoops::Spreads const& spreads() const override {
    return variant_.runtime().spreads();
  }

  std::shared_ptr<MgFields> fields_;
  npb_mg::OnTeams variant_;
  bool verified_ = true;
};

struct LuMatrix {
  LuMatrix(int blocks, int side) : matrix(blocks, side) {
    matrix.refill();
    sparselu::solve_serial(matrix);
    expected = matrix.checksum();
  }
  sparselu::Matrix matrix;
  std::uint64_t expected = 0;
};

struct LuTeam {  // as the workloads' other teams
  nigh::topology const* machine = nullptr;
  std::vector<int> cpus;
  bool (*pin)(int cpu) = nullptr;
  int threads() const noexcept { return static_cast<int>(cpus.size()); }
};

struct LuOnTeams {
  using Spreads = workloads::Spreads<std::monostate>;  // one loop, run in steps of different size
};

class SparseLU : public WithSpreads<LuOnTeams> {
 public:
  SparseLU(std::shared_ptr<LuMatrix> matrix, SpreadOptions const& o, nigh::spread spread,
           int active)
      : matrix_(std::move(matrix)),
        runtime_(workloads::nigh_options(team_for<LuTeam>(o))),
        spreads_(spread, active) {}
  double run() override {
    matrix_->matrix.refill();
    return seconds_of(
        [&] { runtime_.run([&] { sparselu::solve_on_teams(matrix_->matrix, spreads_.of({})); }); });
  }
  bool verified() override { return matrix_->matrix.checksum() == matrix_->expected; }

 private:
  LuOnTeams::Spreads const& spreads() const override { return spreads_; }

  std::shared_ptr<LuMatrix> matrix_;
  nigh::runtime runtime_;
  LuOnTeams::Spreads spreads_;
};

// Memory is made for the first contestant, and kept for the others.
template <class Made, class Memory, class Make>
ContestProgram program(std::string name, std::string size, SpreadOptions const& o, Make make) {
  return {std::move(name), std::move(size),
          [&o, make, memory = std::shared_ptr<Memory>()](nigh::spread spread, int active) mutable {
            if (memory == nullptr) memory = make();
            return std::make_unique<Made>(memory, o, spread, active);
          }};
}

// --quick: small ones.
std::vector<ContestProgram> contest_programs(SpreadOptions const& o) {
  int const side = o.quick ? 40 : 300;
  npb_mg::Class const& mg_class = *npb_mg::find_class(o.quick ? "S" : "A");
  int const blocks = o.quick ? 10 : 25, lu_side = o.quick ? 16 : 100;
  return {program<Jacobi, JacobiFields>("jacobi3d", std::to_string(side) + "^3", o,
                                        [=] { return std::make_shared<JacobiFields>(side); }),
          program<Multigrid, MgFields>(
              "npb-mg", std::string(1, mg_class.name), o,
              [&o, &mg_class] { return std::make_shared<MgFields>(o, mg_class); }),
          program<SparseLU, LuMatrix>("sparselu",
                                      std::to_string(blocks) + "x" + std::to_string(lu_side), o,
                                      [=] { return std::make_shared<LuMatrix>(blocks, lu_side); })};
}

constexpr int most_runs_to_hold = 60;

// Spread 1 on all threads, every other one, and the choice.
std::vector<ProgramCell> cells_of(SpreadOptions const& o) {
  std::vector<ProgramCell> cells;
  for (int const active : o.actives)
    for (int const spread : o.spreads) {
      ProgramCell cell;
      cell.spread = spread, cell.active = active;
      if (spread <= active && !(spread == 1 && active == o.threads)) cells.push_back(cell);
    }
  ProgramCell one;
  one.spread = 1, one.active = o.threads;
  cells.insert(cells.begin(), one);
  cells.emplace_back();
  return cells;
}

void let_choose(Contestant& contestant, ProgramCell& cell) {
  do {
    contestant.run();
    ++cell.runs_to_hold;
  } while (!contestant.holds() && cell.runs_to_hold < most_runs_to_hold);
}

void measure(ContestProgram& program, ProgramGroup& group, SpreadOptions const& o,
             nigh::platform::Progress& progress) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (ProgramCell& cell : group.cells) {
    contestants.push_back(cell.chooses() ? program.make(nigh::spread::automatic, 0)
                                         : program.make(nigh::spread(cell.spread), cell.active));
    if (cell.chooses()) let_choose(*contestants.back(), cell);
  }
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      ProgramCell& cell = group.cells[c];
      progress.step(group.name);
      // The threads of the one before are asleep by then.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      cell.seconds.push_back(contestants[c]->run());
      cell.verified = cell.verified && contestants[c]->verified();
      cell.holds = contestants[c]->holds();
      cell.trials = contestants[c]->most_trials();
    }
}

double time_over(ProgramCell const& cell, ProgramCell const& other) {
  return median_of_ratios(cell.seconds, other.seconds);
}

// With the shortest median.
ProgramCell const& best_fixed(ProgramGroup const& g) {
  return *std::min_element(g.cells.begin(), g.cells.end() - 1, [](auto const& a, auto const& b) {
    return median_of(a.seconds) < median_of(b.seconds);
  });
}

std::string name_of(ProgramCell const& c) {
  return c.chooses() ? "auto" : fmt::format("{} of {}", c.spread, c.active);
}

}  // namespace

ProgramStudy study_programs(SpreadOptions const& o) {
  ProgramStudy s;
  if (!o.programs) return s;
  auto programs = contest_programs(o);
  std::vector<ProgramCell> const cells = cells_of(o);
  nigh::platform::Progress progress(static_cast<int>(programs.size() * cells.size()) *
                                    o.repetitions);
  for (ContestProgram& program : programs) {
    s.groups.push_back({program.name, program.size, cells});
    measure(program, s.groups.back(), o, progress);
    program.make = nullptr;  // and its memory
  }
  return s;
}

std::string describe(ProgramStudy const& s, SpreadOptions const& o) {
  if (s.groups.empty()) return "";
  Table t;
  std::vector<std::string> head{"program", "size"};
  for (ProgramCell const& c : s.groups.front().cells) head.push_back(name_of(c));
  for (char const* more : {"trials", "best fixed", "over best", "over spread 1"})
    head.emplace_back(more);
  t.row(head);
  t.rule();
  for (ProgramGroup const& g : s.groups) {
    std::vector<std::string> row{g.name, g.size};
    for (ProgramCell const& c : g.cells)
      row.push_back(
          fmt::format("{:.4g}{}", median_of(c.seconds) * 1e3, c.verified ? "" : " WRONG"));
    ProgramCell const& automatic = g.cells.back();
    ProgramCell const& best = best_fixed(g);
    row.push_back(fmt::format("{}{}", automatic.trials, automatic.holds ? "" : ", still"));
    row.push_back(name_of(best));
    row.push_back(fmt::format("{:+.1f}%", 100 * (time_over(automatic, best) - 1)));
    row.push_back(fmt::format("{:+.1f}%", 100 * (time_over(automatic, g.cells.front()) - 1)));
    t.row(row);
  }
  return fmt::format(
      "{}Other programs with task loops: ms, median of {} samples in turn; every spread on every\n"
      "number of threads, and what each loop chose after its trials; its time over that of the\n"
      "best and of spread 1, medians of the ratios sample by sample\n\n{}",
      o.grid.empty() && o.cache.empty() ? "" : "\n", o.repetitions, t.text());
}

std::vector<Result> results(ProgramStudy const& s, SpreadOptions const& o) {
  std::vector<Result> all;
  for (ProgramGroup const& g : s.groups)
    for (ProgramCell const& c : g.cells) {
      Result r;
      r.bench = "spread/programs";
      r.variant = c.chooses() ? "nigh/auto" : "nigh/spread";
      r.params = {{"program", g.name},
                  {"size", g.size},
                  {"threads", static_cast<long>(o.threads)},
                  {"isa", std::string(o.kernel->isa)}};
      r.metric = "time";
      r.unit = "s";
      r.samples = c.seconds;
      r.verified = c.verified;
      r.counters["time_over_spread_1"] = time_over(c, g.cells.front());
      if (c.chooses()) {
        r.counters["trials"] = static_cast<long>(c.trials);
        r.counters["runs_to_hold"] = static_cast<long>(c.runs_to_hold);
        r.counters["time_over_best"] = time_over(c, best_fixed(g));
      } else {
        r.params["spread"] = static_cast<long>(c.spread);
        r.params["active"] = static_cast<long>(c.active);
      }
      all.push_back(std::move(r));
    }
  return all;
}

}  // namespace bench
