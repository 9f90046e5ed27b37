// SPDX-License-Identifier: Apache-2.0
// All structs of options take designated initialisers: any member alone, several in their order,
// and loop_options' members in reduce_options, without a warning. Compiled, not run.

#include <functional>
#include <nigh/array.hpp>
#include <nigh/cluster.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/runtime.hpp>
#include <nigh/spread.hpp>
#include <nigh/stencil.hpp>
#include <nigh/task_loop.hpp>
#include <nigh/task_scope.hpp>
#include <nigh/time_grid.hpp>
#include <type_traits>

namespace {

// The members of loop_options, in this order, and those of reduce_options beside `order`.
void same_members(nigh::loop_options const& l, nigh::reduce_options const& r) {
  auto const& [how, stop, where, grain, members] = l;
  auto const& [how_r, stop_r, where_r, grain_r, members_r, order] = r;
  static_assert(std::is_same_v<decltype(how), decltype(how_r)>);
  static_assert(std::is_same_v<decltype(stop), decltype(stop_r)>);
  static_assert(std::is_same_v<decltype(where), decltype(where_r)>);
  static_assert(std::is_same_v<decltype(grain), decltype(grain_r)>);
  static_assert(std::is_same_v<decltype(members), decltype(members_r)>);
  static_assert(std::is_convertible_v<nigh::reduce_options, nigh::loop_options>);
  static_cast<void>(order);
}

}  // namespace

void every_member_alone(nigh::runtime& rt, nigh::stop_token stop, nigh::spread_site& site) {
  static_cast<void>(nigh::runtime_options{});
  static_cast<void>(nigh::runtime_options{.machine = nullptr});
  static_cast<void>(nigh::runtime_options{.workers = 2});
  static_cast<void>(nigh::runtime_options{.order = nigh::cpu_order::scatter});
  static_cast<void>(nigh::runtime_options{.order_level = nigh::level::l3});
  static_cast<void>(nigh::runtime_options{.cpus = {0, 1}});
  static_cast<void>(nigh::runtime_options{.mode = nigh::locality::strict});
  static_cast<void>(nigh::runtime_options{.queue_level = nigh::level::l2});
  static_cast<void>(nigh::runtime_options{.queue_capacity = 64});
  static_cast<void>(nigh::runtime_options{.pending_limit = 5});
  static_cast<void>(nigh::runtime_options{.task_capacity = 64});
  static_cast<void>(nigh::runtime_options{.thread_stack_bytes = 1 << 20});
  static_cast<void>(nigh::runtime_options{.victims = nigh::victim_choice::ring});
  static_cast<void>(nigh::runtime_options{.chunks = nigh::chunk_choice::one});
  static_cast<void>(nigh::runtime_options{.depth_cutoff = 3});
  static_cast<void>(nigh::runtime_options{.queue_cutoff = 3});
  static_cast<void>(nigh::runtime_options{.count_tasks = true});
  static_cast<void>(nigh::runtime_options{.loops = nigh::static_schedule()});
  static_cast<void>(nigh::runtime_options{.trace_file = "trace.json"});

  static_cast<void>(nigh::loop_options{.how = nigh::static_schedule()});
  static_cast<void>(nigh::loop_options{.stop = stop});
  static_cast<void>(nigh::loop_options{.where = &rt});
  static_cast<void>(nigh::loop_options{.grain = 4});
  static_cast<void>(nigh::loop_options{.members = nullptr});

  static_cast<void>(nigh::reduce_options{.how = nigh::static_schedule()});
  static_cast<void>(nigh::reduce_options{.stop = stop});
  static_cast<void>(nigh::reduce_options{.where = &rt});
  static_cast<void>(nigh::reduce_options{.grain = 4});
  static_cast<void>(nigh::reduce_options{.members = nullptr});
  static_cast<void>(nigh::reduce_options{.order = nigh::reduction::deterministic});
  static_cast<void>(
      nigh::reduce_options{.where = &rt, .grain = 4, .order = nigh::reduction::deterministic});

  static_cast<void>(nigh::task_scope_options{.where = &rt});
  static_cast<void>(nigh::task_scope_options{.rule = nigh::on_exception::cancel});
  static_cast<void>(nigh::task_scope_options{.parent = stop});

  static_cast<void>(nigh::task_loop_options{.spread = nigh::spread(2)});
  static_cast<void>(nigh::task_loop_options{.active = 2});
  static_cast<void>(nigh::task_loop_options{.smt = false});
  static_cast<void>(nigh::task_loop_options{.grain = 2});
  static_cast<void>(nigh::task_loop_options{.site = &site});
  static_cast<void>(nigh::task_loop_options{.how = nigh::local_schedule()});
  static_cast<void>(nigh::task_loop_options{.stop = stop});
  static_cast<void>(nigh::task_loop_options{.where = &rt});
  static_cast<void>(nigh::spread_site_options{.agree = [](double s) { return s; }});
  static_cast<void>(nigh::spread_site_options{.fewer_workers = false});
  static_cast<void>(nigh::spread_site_options{.grains = {1, 2}});

  static_cast<void>(nigh::array_options{.machine = nullptr});
  static_cast<void>(nigh::array_options{.huge_pages = true});
  static_cast<void>(nigh::stencil_options{.tile_width = 8});
  static_cast<void>(nigh::stencil_options{.tile_steps = 8});
  static_cast<void>(nigh::stencil_options{.tile_rows = 8});
  static_cast<void>(nigh::stencil_options{.plain_sweeps = true});
  static_cast<void>(nigh::stencil_options{.one_at_a_time = true});
  static_cast<void>(nigh::stencil_options{.checked = true});
  static_cast<void>(nigh::stencil_options{.where = &rt});
  static_cast<void>(nigh::time_grid_options<2>{.reach = 2});
  static_cast<void>(nigh::time_grid_options<2>{.boundaries = {}});
  static_cast<void>(nigh::time_grid_options<2>{.tiles = {.tile_width = 8}});
  static_cast<void>(nigh::time_grid_options<2>{.checked = true});

  static_cast<void>(nigh::cluster::session_options{.workers = {.workers = 2}});
  static_cast<void>(nigh::cluster::session_options{.victims = nigh::victim_choice::ring});
  static_cast<void>(nigh::cluster::session_options{.lifelines = true});
  static_cast<void>(nigh::cluster::session_options{.chunks = nigh::chunk_choice::half});
  static_cast<void>(nigh::cluster::session_options{.fixed_chunk = 2});
  static_cast<void>(nigh::cluster::session_options{.queue_capacity = 16});
  static_cast<void>(nigh::cluster::session_options{.switches = "file"});
  static_cast<void>(nigh::cluster::session_options{.shared_window = false});
  static_cast<void>(nigh::cluster::session_options{.supervised = true});
}

// As they are written in calls.
double in_calls(nigh::runtime& rt) {
  nigh::runtime const two({.workers = 2});
  nigh::parallel_for(0, 8, [](int) {}, {.where = &rt, .grain = 2});
  nigh::task_scope const scope({.rule = nigh::on_exception::cancel});
  same_members({}, {});
  return nigh::parallel_reduce(0, 8, 0.0, [](int i) { return 1.0 * i; }, std::plus<>(),
                               {.order = nigh::reduction::deterministic});
}
