// SPDX-License-Identifier: Apache-2.0
// nigh's workers on blocks: a task for each block, or teams of so many workers, or of as many as
// nigh finds to be best.
#include <algorithm>
#include <nigh/parallel_for.hpp>
#include <nigh/task_loop.hpp>

#include "jacobi2d/variant.hpp"
#include "nigh_options.hpp"

namespace jacobi2d {

namespace {

class OnWorkers : public Variant {
 public:
  explicit OnWorkers(Team const& team) : runtime_(workloads::nigh_options(team)) {}
  void inside(std::function<void()> const& body) override { runtime_.run(body); }

 private:
  nigh::runtime runtime_;
};

class Tasks : public OnWorkers {
 public:
  explicit Tasks(Team const& team) : OnWorkers(team) { loop_.how = nigh::local_schedule(); }

  void run(Work& work) override {
    nigh::parallel_for(
        0, work.blocks(),
        [&](int block) {
          work.begin(block);
          for (int step = 0; step < work.steps(); ++step) work.rows(block, step, 0, work.points());
          work.end(block);
        },
        loop_);
  }

 private:
  nigh::loop_options loop_;
};

class Teams : public OnWorkers {
 public:
  explicit Teams(Team const& team) : OnWorkers(team), rows_(team.rows) {
    options_.spread = nigh::spread(team.spread);
    options_.active = team.active;
    if (rows_.chunk > 0)
      inner_.how = nigh::static_schedule(static_cast<std::size_t>(rows_.chunk));
    else if (rows_.collapse)
      inner_.how = nigh::static_schedule();
  }

  void run(Work& work) override { run(work, options_); }

 protected:
  void run(Work& work, nigh::task_loop_options const& how) {
    nigh::task_loop(
        static_cast<std::size_t>(work.blocks()),
        [&](std::size_t number, nigh::team const& team) {
          int const block = static_cast<int>(number);
          work.begin(block);
          for (int step = 0; step < work.steps(); ++step) this->step(work, block, step, team);
          work.end(block);
        },
        how);
  }

 private:
  void step(Work& work, int block, int step, nigh::team const& team) const {
    int const n = work.points();
    if (rows_.collapse) {
      auto const rows = static_cast<std::size_t>(n);
      auto const strips = static_cast<std::size_t>((n + strip - 1) / strip);
      team.parallel_for(
          nigh::box<2>{{0, 0}, {rows, strips}},
          [&](std::size_t row, std::size_t column) {
            int const r = static_cast<int>(row), c = static_cast<int>(column) * strip;
            work.tile(block, step, {r, r + 1, c, std::min(c + strip, n)});
          },
          inner_);
      return;
    }
    team.parallel_for(
        0, n,
        [&](nigh::index_range rows) {
          work.rows(block, step, static_cast<int>(rows.begin), static_cast<int>(rows.end));
        },
        inner_);
  }

  RowSchedule rows_;
  nigh::task_loop_options options_;
  nigh::loop_options inner_;
};

class Automatic : public Teams {
 public:
  explicit Automatic(Team const& team) : Teams(team), site_({}, {.agree = team.agree}) {
    automatic_.spread = nigh::spread::automatic;
    automatic_.site = &site_;
  }

  void run(Work& work) override {
    if (work.is_iteration())
      Teams::run(work, automatic_);
    else
      Teams::run(work);
  }
  Chosen chosen() const override {
    nigh::spread_choice const next = site_.next();
    return {next.spread, next.active, site_.trials(), site_.is_holding()};
  }

 private:
  nigh::spread_site site_;
  nigh::task_loop_options automatic_;
};

template <class Way>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<Way>(team);
}

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back({.name = "nigh/tasks", .make = make<Tasks>});
  list.push_back({.name = "nigh/spread",
                  .by_spread = true,
                  .by_active = true,
                  .by_rows = true,
                  .make = make<Teams>});
  list.push_back({.name = "nigh/auto", .by_rows = true, .chooses = true, .make = make<Automatic>});
}

}  // namespace jacobi2d
