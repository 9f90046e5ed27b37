// SPDX-License-Identifier: Apache-2.0
#include "cli/report/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/profile/study_text.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/topo.hpp"
#include "cli/tune/space.hpp"
#include "platform/cgroup.hpp"
#include "platform/elf.hpp"
#include "platform/program.hpp"
#include "tune/search.hpp"

namespace nigh::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format = 1;  // of the document

Json lines_of(std::string const& text) {
  auto lines = Json::array();
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

Json machine_of(topology const& machine, StudyRecord const& record) {
  auto domains = Json::array();
  for (auto const& d : machine.domains())
    domains.push_back({{"index", d.index}, {"cpus", d.cpus}, {"memory_bytes", d.memory_bytes}});
  return {{"name", record.machine},
          {"topology", record.topology},
          {"cpus", machine.cpus()},
          {"domains", std::move(domains)},
          {"svg", topo_svg(machine)}};
}

Json findings_of(std::vector<Finding> const& findings) {
  auto out = Json::array();
  for (auto const& f : findings)
    out.push_back({{"id", f.id}, {"what", f.what}, {"why", f.why}, {"what_to_do", f.what_to_do}});
  return out;
}

Json where_of(topology const& machine, Observed const& observed) {
  auto const seconds = observed.ending.seconds;
  auto cpus = Json::array();
  auto busy = observed.usage.busy(seconds, report_parts);
  for (int const cpu : machine.cpus()) busy[cpu].resize(report_parts);
  for (auto const& [cpu, row] : busy)
    cpus.push_back({{"cpu", cpu}, {"domain", machine.domain_of_cpu(cpu)}, {"busy", row}});
  auto threads = Json::array();
  for (auto const& t : observed.seen.threads()) {
    auto on = Json::object();
    for (auto const& [cpu, ns] : t.busy_on)
      on[std::to_string(cpu)] = 1e-9 * static_cast<double>(ns);
    threads.push_back({{"process", t.process},
                       {"thread", t.number},
                       {"name", t.name},
                       {"cpu_seconds", 1e-9 * static_cast<double>(t.busy_ns)},
                       {"migrations", t.migrations},
                       {"on", std::move(on)}});
  }
  auto pages = Json::array();
  for (auto const& [time, bytes] : observed.pages) {
    auto by = Json::object();
    for (auto const& [node, b] : bytes) {
      auto const d = machine.domain_of_os_node(node);
      by[d >= 0 ? "domain " + std::to_string(d) : "node " + std::to_string(node)] = b;
    }
    pages.push_back({{"seconds", time}, {"bytes", std::move(by)}});
  }
  return {{"samples", observed.seen.samples()},
          {"cpus", std::move(cpus)},
          {"threads", std::move(threads)},
          {"pages", std::move(pages)}};
}

Json tasks_of(TracedTasks const& tasks) {
  auto const& s = tasks.summary;
  auto workers = Json::array();
  for (auto const& w : tasks.series.workers)
    workers.push_back({{"name", w.name},
                       {"working", w.working},
                       {"searching", w.searching},
                       {"asleep", w.asleep}});
  auto codes = Json::array();
  for (auto const& c : tasks.codes)
    codes.push_back({{"name", c.name}, {"tasks", c.tasks}, {"ns", c.ns}});
  auto steals = Json::object();
  for (std::size_t l = 0; l < trace::level_count; ++l)
    if (s.steals[l] > 0) steals[std::string(to_string(static_cast<level>(l)))] = s.steals[l];
  return {{"seconds", tasks.series.seconds},
          {"created", s.created},
          {"stolen", s.stolen},
          {"failed", s.failed},
          {"parks", s.parks},
          {"serialized", s.serialized},
          {"busy_ns", s.busy_ns},
          {"events_lost", s.events_lost},
          {"steals", std::move(steals)},
          {"workers", std::move(workers)},
          {"tasks_over_time", tasks.series.tasks},
          {"steals_over_time", tasks.series.steals},
          {"codes", std::move(codes)}};
}

Json tune_of(TunePlan const& plan, std::string const& program) {
  if (!plan.why_not.empty()) return {{"absent", plan.why_not}};
  auto next = Json::array();
  for (auto const& options : plan.next)
    next.push_back(
        {{"options", options},
         {"command", options.empty() ? program : "nigh run " + options + " -- " + program}});
  return {{"configurations", plan.configurations},
          {"next", std::move(next)},
          {"notes", plan.notes},
          {"command", "nigh tune -- " + program}};
}

double share_outside_the_first(std::map<int, std::uint64_t> const& bytes) {
  std::uint64_t all = 0, most = 0;
  for (auto const& [node, b] : bytes) all += b, most = std::max(most, b);
  return all == 0 ? 0 : 1 - static_cast<double>(most) / static_cast<double>(all);
}

Measured measured(topology const& machine, ProgramReport const& report) {
  Measured m;
  auto const& observed = *report.observed;
  m.words = report.words;
  m.cpus = static_cast<int>(machine.cpus().size());
  m.domains = machine.cpu_domains();
  m.seconds = observed.ending.seconds;
  m.cpu_seconds = observed.ending.cpu_seconds;
  for (auto const& t : observed.seen.threads()) m.migrations += t.migrations;
  m.remote_pages = share_outside_the_first(observed.seen.pages());
  m.study = report.study;
  m.configurations = report.tune.configurations;
  m.findings = report.findings;
  if (report.tasks) {
    auto const& s = report.tasks->summary;
    m.seconds_with_our_tasks = report.tasks->seconds;
    m.tasks = s.created;
    std::uint64_t tasks = 0, ns = 0;  // of task constructs: without the regions themselves
    for (auto const& code : report.tasks->codes) tasks += code.tasks, ns += code.ns;
    if (tasks == 0) tasks = std::max<std::uint64_t>(1, s.created), ns = s.busy_ns;
    m.mean_task_ns = static_cast<double>(ns) / static_cast<double>(tasks);
    for (std::size_t l = 0; l < trace::level_count; ++l) {
      m.steals += s.steals[l];
      if (l > static_cast<std::size_t>(level::domain)) m.far_steals += s.steals[l];
    }
  }
  return m;
}

Json steps_of(std::vector<Step> const& steps) {
  auto out = Json::array();
  for (auto const& step : steps)
    out.push_back({{"title", step.title}, {"why", step.why}, {"command", step.command}});
  return out;
}

Json begin(std::string const& title) { return {{"nigh_report", format}, {"title", title}}; }

}  // namespace

TunePlan tune_plan(topology const& machine, std::string const& program, double seconds) {
  TunePlan plan;
  auto const elf = platform::read_elf(platform::find_program(program));
  auto const space = space_of(machine, {}, elf ? hears(*elf) : Hears::all, from_environment,
                              platform::own_cpu_quota());
  if (!space) return plan.why_not = space.message(), plan;
  plan.configurations = static_cast<int>(space->requests.size());
  plan.notes = space->notes;
  tune::Search search(space->candidates, {});
  constexpr std::size_t most = 8;
  while (plan.next.size() < std::min(most, space->requests.size())) {
    auto const candidate = search.next();
    if (!candidate) break;
    auto const options = to_string(space->requests[static_cast<std::size_t>(*candidate)]);
    if (std::find(plan.next.begin(), plan.next.end(), options) != plan.next.end()) break;
    plan.next.push_back(options);
    search.tell(*candidate, std::max(seconds, 1e-3));
  }
  return plan;
}

Json document_of(topology const& machine, ProgramReport const& report) {
  auto const record = record_of(machine);
  auto const& observed = *report.observed;
  auto const program = as_shell_words(report.words);
  auto out = begin(report.title);
  out["command"] = program;
  out["date"] = record.date;
  out["commit"] = record.commit;
  out["machine"] = machine_of(machine, record);
  out["findings"] = findings_of(report.findings);
  out["run"] = {{"seconds", observed.ending.seconds},
                {"cpu_seconds", observed.ending.cpu_seconds},
                {"status", observed.ending.status},
                {"signal", observed.ending.signal}};
  out["where"] = where_of(machine, observed);
  if (report.study) out["regions"] = {{"lines", lines_of(study_json(*report.study, record))}};
  if (!report.why_no_study.empty()) out["regions"]["absent"] = report.why_no_study;
  out["tasks"] = report.tasks ? tasks_of(*report.tasks) : Json{{"absent", report.why_no_tasks}};
  out["tune"] = tune_of(report.tune, program);
  out["steps"] = steps_of(next_steps(measured(machine, report)));
  return out;
}

Json document_of_files(std::string const& title, Json files) {
  auto out = begin(title);
  out["files"] = std::move(files);
  return out;
}

}  // namespace nigh::cli
