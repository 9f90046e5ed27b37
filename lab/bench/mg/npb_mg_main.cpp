// SPDX-License-Identifier: Apache-2.0
// npb-mg: the multigrid benchmark as a plain program, like the reference codes. `nigh run`,
// `nigh tune`, profilers and a test in a machine with NUMA start it.
//
// Without --bind no thread is pinned and OMP_* variables hold: the settings are somebody else's.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nigh/locality_mark.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "bench/mg/setting.hpp"
#include "bench/options.hpp"

namespace {

using namespace bench;

struct Flags {
  std::string variant = "openmp/runtime", size = "A", bind, mem = "first-touch", isa;
  std::optional<long> threads;
  bool npb_touch = false, huge_pages = false, report = false, list = false;

  void declare(CLI::App& app) {
    app.add_option("--variant", variant, "which one; default openmp/runtime (OMP_SCHEDULE)")
        ->type_name("NAME");
    app.add_option("--class", size, "S, W, A (default), B, C or D")->type_name("CLASS");
    app.add_option("--threads", threads,
                   "default: OMP_NUM_THREADS, NIGH_WORKERS, else one for each allowed cpu");
    app.add_option("--bind", bind, "pin threads: compact or scatter; default: they are not pinned")
        ->type_name("HOW");
    app.add_option("--mem", mem, "pages by first-touch (default) or interleave")->type_name("HOW");
    app.add_flag("--npb-touch", npb_touch,
                 "one thread first touches the finest u, as NPB-CPP does; default: all touch");
    app.add_flag("--huge-pages", huge_pages, "ask for transparent huge pages");
    app.add_option("--isa", isa, "operators for baseline, avx2 or avx512; default: the widest")
        ->type_name("NAME");
    app.add_flag("--report", report, "where pages and threads were");
    app.add_flag("--list", list, "name the variants and leave");
  }
};

// Counts the timed part only.
class MeterWatch : public npb_mg::Watch {
 public:
  explicit MeterWatch(npb_mg::Fields const& fields) {
    auto const range = [](nigh::array<double> const& a) { return a.size() * sizeof(double); };
    NIGH_METER_RANGE(0, fields.u_array().data(), range(fields.u_array()));
    NIGH_METER_RANGE(1, fields.r_array().data(), range(fields.r_array()));
    NIGH_METER_RANGE(2, fields.v_array().data(), range(fields.v_array()));
  }
  void begin() override { NIGH_METER_START(); }
  void end() override { NIGH_METER_STOP(1); }
};

// One fact a line, first word its name: easy to read for people and for scripts.
void print_pages(char const* name, nigh::array<double> const& a) {
  nigh::page_report const pages = a.report();
  fmt::print("pages_of_{} {}\n", name, fmt::join(pages.pages_of_domain, " "));
  if (!pages.note.empty()) fmt::print("pages_note {}\n", pages.note);
}

// Where the kernel lets each thread of this program run.
void print_threads() {
  std::string cpus;
  std::error_code none;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream status(task.path() / "status");
    constexpr std::string_view key = "Cpus_allowed_list:\t";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(key)) cpus += ' ' + line.substr(key.size());
  }
  fmt::print("threads_may_run_on{}\n", cpus);
}

int threads_for(Flags const& flags, npb_mg::VariantInfo const& variant,
                nigh::topology const& machine) {
  if (variant.name == "serial") return 1;
  if (flags.threads) return static_cast<int>(cpus_for(*flags.threads, machine).size());
  for (char const* const name : {"OMP_NUM_THREADS", "NIGH_WORKERS"}) {
    char const* const text = std::getenv(name);
    if (text == nullptr) continue;
    char* end = nullptr;
    long const threads = std::strtol(text, &end, 10);
    if (end != text && threads > 0)
      return static_cast<int>(std::min<long>(threads, static_cast<long>(machine.cpus().size())));
  }
  return static_cast<int>(machine.cpus().size());
}

void run(Flags const& flags) {
  if (flags.list) return list_variants(npb_mg::variants());
  npb_mg::VariantInfo const& variant = variant_from("--variant", flags.variant);
  npb_mg::Class const& size = class_from("--class", flags.size);
  npb_mg::Kernel const& kernel = kernel_from("--isa", flags.isa);
  Mem const mem = mem_from("--mem", flags.mem);
  Bind const bind = flags.bind.empty() ? Bind::compact : bind_from("--bind", flags.bind);
  nigh::topology const machine = live_machine();
  npb_mg::Team team = team_for(machine, threads_for(flags, variant, machine), bind, kernel);
  if (flags.bind.empty()) team.pin = nullptr;

  npb_mg::Placing placing;
  placing.rule = rule_of(mem);
  placing.touch = flags.npb_touch ? npb_mg::Touch::by_caller : npb_mg::Touch::as_used;
  placing.huge_pages = flags.huge_pages;
  placing.machine = &machine;
  npb_mg::Fields fields(size, placing);
  auto const charges = npb_mg::find_charges(size.n, team.threads());
  MeterWatch watch(fields);
  auto const made = [&] {
    try {
      return variant.make(team);
    } catch (std::invalid_argument const& e) {  // a NIGH_* variable
      throw UsageError(e.what());
    }
  }();
  npb_mg::Result const result = npb_mg::run(*made, fields, size, charges, &watch);
  fmt::print("{}", npb_mg::report(result, size, variant.name, team.threads()));
  if (flags.report) {
    print_threads();
    print_pages("u", fields.u_array());
    print_pages("r", fields.r_array());
    print_pages("v", fields.v_array());
  }
  if (!result.verified) throw std::runtime_error("the norm is not the published one");
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  return run_program(
      "npb-mg", "NPB multigrid: one variant, one run", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
