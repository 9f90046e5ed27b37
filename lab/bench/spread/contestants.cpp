// SPDX-License-Identifier: Apache-2.0
#include "bench/spread/contestants.hpp"

#include <chrono>
#include <nigh/array.hpp>
#include <variant>

#include "bench/command.hpp"
#include "bench/pin.hpp"
#include "jacobi3d/teams.hpp"
#include "nigh_options.hpp"
#include "npb_mg/run.hpp"
#include "npb_mg/teams.hpp"
#include "sparselu/config.hpp"
#include "sparselu/teams.hpp"

namespace bench {

namespace {

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

}  // namespace

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

}  // namespace bench
