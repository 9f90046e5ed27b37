// SPDX-License-Identifier: Apache-2.0
// nigh run: runs a program with its threads and its memory where they are wanted.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu_list.hpp"
#include "base/printable.hpp"
#include "base/verbose.hpp"
#include "cli/commands.hpp"
#include "cli/coordinator_socket.hpp"
#include "cli/run/adjust_plan.hpp"
#include "cli/run/coordination.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/run/plan.hpp"
#include "cli/run/pool_variables.hpp"
#include "cli/run/profile.hpp"
#include "cli/run/rank_binding.hpp"
#include "cli/run/spread_plan.hpp"
#include "cli/run/watch.hpp"
#include "coordinator/client/job_rank.hpp"
#include "platform/affinity.hpp"
#include "platform/cgroup.hpp"
#include "platform/launch.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace {

struct RunOptions {
  std::string threads, bind, ranks, memory, schedule, profile, spread, spreads, adjust, tasks;
  bool smt = false;
  bool no_coordinator = false;
  bool force = false, dry_run = false, verbose = false, strict = false;
};

template <class T>
T checked(std::string const& option, result<T> parsed) {
  if (!parsed) throw UsageError(option + ": " + parsed.message());
  return std::move(parsed).value();
}

// The settings of a profile, where the command line gives no others.
Request request_of(CLI::App const& command, RunOptions const& o, topology const& machine) {
  Request request;
  if (command.count("--profile") > 0) request = read_profile(o.profile, machine, o.force);
  if (command.count("--threads") > 0) {
    request.threads = checked("--threads", parse_threads(o.threads));
    if (command.count("--bind") == 0 && request.bind && !request.bind->places.empty())
      request.bind.reset();  // the profile's places were for its own number of threads
  }
  if (command.count("--bind") > 0) {
    request.bind = checked("--bind", parse_binding(o.bind));
    if (command.count("--threads") == 0) request.threads = 0;
  }
  if (command.count("--mem") > 0) request.memory = checked("--mem", parse_memory(o.memory));
  if (command.count("--schedule") > 0)
    request.schedule = checked("--schedule", parse_loops(o.schedule));
  return request;
}

// Never throws: the program must run even where standard error is closed.
void tell_user(std::string const& what) {
  std::fputs(("nigh: run: " + base::printable(what) + '\n').c_str(), stderr);
}

// Each rank of this host is bound to the first of the allowed cpus. Where its launcher has not given
// it cpus of its own, they are the same ones.
void say_if_stacked(topology const& machine, Request const& request) {
  auto const me = coordinator::rank_in_job(std::getenv, 0);
  bool const is_bound = request.bind ? request.bind->places.empty() : request.threads > 0;
  if (!is_bound || me.ranks < 2 || me.rank != 0) return;
  auto const needed = static_cast<std::uint64_t>(machine.cpus().size()) * me.ranks;
  if (std::cmp_less_equal(needed, platform::online_cpus())) return;
  tell_user(fmt::format("all {} ranks of this host get the same cpus; --bind-ranks compact gives each its own",
                  me.ranks));
}

// For one of several ranks on this host: its part of the cpus, and no more.
void bind_rank(CLI::App const& command, RunOptions const& o, topology const& machine,
               QuotaHere const& here, Request& request) {
  if (command.count("--bind-ranks") == 0) {
    if (o.smt) throw UsageError("--smt: goes with --bind-ranks");
    say_if_stacked(machine, request);
    return;
  }
  if (command.count("--bind") > 0) throw UsageError("--bind-ranks: --bind says where threads go");
  auto const order = checked("--bind-ranks", parse_rank_order(o.ranks));
  auto const me = coordinator::rank_in_job(std::getenv, 0);
  policy::RankPlacing how{here.ranks, order, request.threads, o.smt};
  if (request.threads == 0 && here.threads() < machine.cores() / here.ranks)
    how.threads = here.threads();
  auto binding = binding_of_rank(machine, how, static_cast<int>(me.rank));
  if (!binding) throw UsageError(binding.message());
  request.bind = std::move(binding).value();
  if (!coordinator::is_rank(std::getenv))
    tell_user("--bind-ranks: no launcher of MPI programs has said which rank this is: it counts as the only one");
}

void say_notes(Plan const& plan, Shim const& shim) {
  for (auto const& note : plan.notes) tell_user(note);
  if (!shim.why_not.empty() && !plan.places.empty()) tell_user(shim.why_not);
}

// Lets the plan's program ask the coordinator, if nothing speaks against that. Starts one when
// there is none, unless the program is not run.
void join_coordinator(Request const& request, std::string const& program, RunOptions const& options,
                      Plan& plan, Shim& shim) {
  auto why_not = why_uncoordinated(request, from_environment);
  auto const for_regions = why_not ? Shim{} : shim_for(program, Purpose::coordinator);
  if (!for_regions.why_not.empty()) why_not = for_regions.why_not;
  auto const socket = coordinator_socket();
  if (!why_not && !options.dry_run)
    if (auto const there = ensure_coordinator(socket, options.verbose || base::is_verbose());
        !there)
      why_not = "no coordinator: " + there.message();
  if (!why_not) {
    std::error_code unknown;  // The program may go to another directory before it asks.
    auto const whole = std::filesystem::absolute(socket, unknown);
    plan.coordinator = unknown ? socket : whole.string();
    for (auto& v : waiting_variables(from_environment)) plan.variables.push_back(std::move(v));
    shim = for_regions;
  } else if (!why_not->empty()) {
    plan.notes.push_back(*why_not);
  }
}

// Nested parallel regions, with or without a coordinator.
void spread_regions(CLI::App const& command, RunOptions const& o, Request const& request,
                    topology const& machine, std::string const& program, Plan& plan, Shim& shim) {
  if (command.count("--spreads") > 0) {
    auto variable = spreads_variable(o.spreads);
    if (!variable) throw UsageError(variable.message());
    plan.variables.push_back(std::move(variable).value());
  }
  if (command.count("--spread") == 0) return;
  auto const how = checked("--spread", parse_spread(o.spread));
  auto const planned = plan_spread(machine, how, request.bind.has_value(), from_environment, plan);
  if (!planned) throw UsageError(planned.message());
  shim = shim_for(program, Purpose::spread);
  if (!shim.why_not.empty()) tell_user(shim.why_not);
}

// The tasks of its OpenMP regions.
void take_tasks(CLI::App const& command, RunOptions const& o, std::string const& program, Plan& plan,
                Shim& shim) {
  if (command.count("--tasks") == 0) return;
  plan.tasks = checked("--tasks", parse_tasks(o.tasks));
  if (plan.tasks.empty()) return;
  Shim with_tasks = shim_for(program, Purpose::tasks);
  if (!with_tasks.why_not.empty()) {
    tell_user(with_tasks.why_not);
    plan.tasks.clear();
    return;
  }
  plan.variables.push_back("NIGH_TASKS=" + plan.tasks);
  // Threads that no runtime makes get their places as they would without.
  if (!plan.places.empty() && !shim.file.empty() && !with_tasks.file.ends_with(shim.file))
    with_tasks.file += ":" + shim.file;
  shim = with_tasks;
}

QuotaHere quota_here(topology const& machine, std::optional<double> quota) {
  auto const ranks = coordinator::rank_in_job(std::getenv, 0).ranks;
  return {quota, static_cast<int>(machine.cpus().size()),
          ranks > 0 ? static_cast<int>(ranks) : 1};
}

// Where the system does not say which cpus there are, the program runs without a place.
topology machine_for(RunOptions const& options, std::vector<std::string> const& words) {
  try {
    return host_to_bind_to();
  } catch (UsageError const&) {
    throw;
  } catch (std::runtime_error const& e) {
    if (options.strict || options.dry_run) throw;
    tell_user(std::string(e.what()) + "; the program runs as without nigh");
    platform::Launch as_it_is;
    as_it_is.words = words;
    auto const failed = platform::become(as_it_is, tell_user);
    tell_user(failed.message);
    throw ExitStatus{failed.status};
  }
}

void run(CLI::App const& command, RunOptions const& options,
         std::vector<std::string> const& words) {
  if (words.empty())
    throw UsageError("run: which program? nigh run [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const machine = machine_for(options, words);
  auto request = request_of(command, options, machine);
  auto const grants = platform::CgroupReader().grants_to_this_process();
  auto const here = quota_here(machine, grants.quota());
  bind_rank(command, options, machine, here, request);
  auto plan = make_plan(machine, request, from_environment, here.quota);
  if (!plan) throw UsageError(plan.message());
  auto shim = shim_for(words.front());
  if (!options.no_coordinator)
    join_coordinator(request, words.front(), options, *plan, shim);
  spread_regions(command, options, request, machine, words.front(), *plan, shim);
  take_tasks(command, options, words.front(), *plan, shim);
  if (command.count("--adjust") > 0) {
    plan->variables.push_back(checked("--adjust", adjust_variable(options.adjust)));
  } else if (auto const wrong = mistake_in_adjust(from_environment); !wrong.empty()) {
    tell_user(wrong);
    // otherwise each of the program's children repeats the complaint
    plan->variables.emplace_back("NIGH_ADJUST=");
  }
  keep_pools_within(here, from_environment, *plan);
  if (!grants.odd.empty()) plan->notes.push_back("a quota may not be seen: " + grants.odd);
  if (options.dry_run) {
    std::fputs(as_shell_lines(*plan, shim, words).c_str(), stdout);
    return;
  }
  auto launch = launch_of(*plan, shim, words);
  launch.strict = options.strict;
  auto const me = std::to_string(platform::process_id());
  if (!options.verbose) {
    if (base::is_verbose()) {
      launch.variables.push_back("NIGH_VERBOSE_PROGRAM=self:" + me);
      say_notes(*plan, shim);
    }
    auto const failed = platform::become(launch, tell_user);
    tell_user(failed.message);
    throw ExitStatus{failed.status};
  }
  launch.variables.emplace_back("NIGH_VERBOSE=1");
  launch.variables.push_back("NIGH_VERBOSE_PROGRAM=parent:" + me);
  say_notes(*plan, shim);
  run_watched(launch, machine, tell_user);
}

}  // namespace

void add_run(CLI::App& app, std::vector<std::string> const& program) {
  auto* const command = app.add_subcommand(
      "run",
      "Run a program with threads and memory placed: nigh run [OPTIONS] -- PROGRAM ARGUMENTS...");
  auto const o = std::make_shared<RunOptions>();
  command
      ->add_option("--threads", o->threads,
                   "How many threads, one a core as long as there are cores")
      ->type_name("N");
  command
      ->add_option("--bind", o->bind,
                   "compact, scatter, or places as 0,2,4-7 or {0,1},{2,3}: thread k on place k")
      ->type_name("HOW");
  command
      ->add_option("--bind-ranks", o->ranks,
                   "compact or scatter: started by mpirun, on this rank's part of the host's cpus")
      ->type_name("HOW");
  command->add_flag("--smt", o->smt, "With --bind-ranks: threads share cores");
  command
      ->add_option("--mem", o->memory,
                   "first-touch, interleave[:DOMAINS], bind:DOMAINS or preferred:DOMAIN")
      ->type_name("POLICY");
  command
      ->add_option(
          "--schedule", o->schedule,
          "static, dynamic or guided[,CHUNK], adaptive, local: of loops that leave it open")
      ->type_name("KIND");
  command->add_option("--profile", o->profile, "Take from this file what the options do not say")
      ->type_name("FILE");
  command
      ->add_option(
          "--spread", o->spread,
          "Nested parallel regions of OpenMP: so many cpus for each thread of the outer one, all, "
          "or auto")
      ->type_name("S");
  command
      ->add_option("--spreads", o->spreads,
                   "Where what is learnt of spreads stays for the next run (NIGH_SPREADS)")
      ->type_name("FILE");
  command
      ->add_option(
          "--adjust", o->adjust,
          "Which OpenMP teams and pools of OpenBLAS and BLIS may be smaller than the "
          "program asks for: none, without-clause, all, nests, openblas, blis, a library's "
          "NAME or NAME=WORD (NIGH_ADJUST)")
      ->type_name("LIST");
  command
      ->add_option("--tasks", o->tasks,
                   "Who runs the tasks of OpenMP regions: off (the runtime), prefer or strict (nigh, "
                   "near their data), either with ,data=depend; auto (as this release knows best: off)")
      ->type_name("HOW");
  command->add_flag("--no-coordinator", o->no_coordinator,
                    "Do not share cpus with other programs by the coordinator, nighd");
  command->add_flag("--force", o->force, "Use the profile of another machine");
  command->add_flag("--strict", o->strict, "Do not start when the system refuses a part of it");
  command->add_flag("--dry-run", o->dry_run,
                    "Print what would be set, for a shell, and run nothing");
  command->add_flag("-v,--verbose", o->verbose,
                    "Say afterwards where threads ran and where pages lay");
  command->callback([command, o, &program] { run(*command, *o, program); });
}

}  // namespace nigh::cli
