// SPDX-License-Identifier: Apache-2.0
// nigh bench cluster: problems on many ranks, by victim selection and chunk size, and what one
// steal takes.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "bench/benchmark.hpp"
#include "bench/cluster/latencies.hpp"
#include "bench/cluster/study.hpp"
#include "bench/command.hpp"
#include "bench/options.hpp"
#include "workloads/problem.hpp"
#include "workloads/size_text.hpp"

namespace bench {
namespace {

struct ClusterFlags : Flags {
  std::string mpi, launcher, only, policies;
  long ranks = 2;
  bool large = false;
};

constexpr int most_ranks = 256;
constexpr char const* latency = "latency";  // beside the problems: single steals

struct Entry {
  char const* name;
  char const* quick;
  std::vector<std::string> usual, large;  // large: those of HotSLAW's paper
};

std::vector<Entry> const& entries() {
  static std::vector<Entry> const all{{"fib", "22", {"37"}, {}},
                                      {"nqueens", "8", {"13"}, {}},
                                      {"uts", "T3-tiny", {"T1", "T3"}, {"T1L", "T2L", "T3L"}},
                                      {"sparselu", "8x8", {"50x32"}, {}},
                                      {"jacobi3d", "24", {"240"}, {}}};
  return all;
}

void check_size(ClusterProblem const& p, int ranks) {
  try {
    if (p.name == "jacobi3d")
      workloads::number(p.size, ranks, 2000);
    else
      workloads::find_problem(p.name)->make(p.size, 0);
  } catch (std::invalid_argument const& e) {
    throw UsageError("--only: " + p.name + ": " + e.what());
  }
}

// "uts" or "uts:T1L"
void add_problems(ClusterOptions& o, ClusterFlags const& f, std::string const& word) {
  if (word == latency) {
    o.latencies = true;
    return;
  }
  auto const colon = word.find(':');
  for (Entry const& e : entries()) {
    if (word.substr(0, colon) != e.name) continue;
    std::vector<std::string> sizes{e.quick};
    if (colon != word.npos)
      sizes = {word.substr(colon + 1)};
    else if (f.large)
      sizes = e.large.empty() ? e.usual : e.large;
    else if (!f.quick)
      sizes = e.usual;
    for (auto const& size : sizes) {
      o.problems.push_back({e.name, size});
      check_size(o.problems.back(), o.ranks);
    }
    return;
  }
  refuse("--only", word, "is none of fib, nqueens, uts, sparselu, jacobi3d, latency");
}

StealPolicy policy_from(std::string const& word) {
  auto const plus = word.find('+');
  if (plus == word.npos || plus == 0 || plus + 1 == word.size())
    refuse("--policies", word, "is not VICTIMS+CHUNKS, as hierarchical+half");
  std::string chunks = word.substr(plus + 1);
  std::replace(chunks.begin(), chunks.end(), ':', ',');  // commas separate policies here
  return {word.substr(0, plus), chunks};
}

std::vector<std::string> smallest_job(StealPolicy const& p) {
  return {"--problem", "fib",     "--size",   "5",      "--workers", "1",
          "--victims", p.victims, "--chunks", p.chunks, "--report"};
}

// The program knows which policies there are.
void try_policies(ClusterOptions const& o) {
  for (StealPolicy const& p : o.policies) {
    auto const ended = run_together({o.launcher.command("cluster-tasks", smallest_job(p), 0)});
    if (ended[0].status != 0)
      throw UsageError("--policies: " + p.name() + ": " + complaint_of(ended[0]));
  }
}

// The note of its session.
std::string try_launcher(ClusterOptions const& o) {
  auto job = o.launcher.command("cluster-tasks", smallest_job(o.policies.front()), o.ranks);
  job.environment["NIGH_VERBOSE"] = "1";
  std::vector<Ended> ended;
  try {
    ended = run_together({job}, 100);
  } catch (std::runtime_error const& e) {
    refuse("--launcher", o.launcher.text(), std::string("fails: ") + e.what());
  }
  if (ended[0].status != 0)
    refuse("--launcher", o.launcher.text(), "fails: " + complaint_of(ended[0]));
  int const came = parse_report(ended[0].errors).ranks;
  if (came != o.ranks)
    refuse("--launcher", o.launcher.text(),
           fmt::format("has started {} ranks instead of {}", came, o.ranks));
  return session_note(ended[0]);
}

void list_cluster_problems() {
  for (Entry const& e : entries())
    for (auto const& sizes : {e.usual, e.large})
      for (auto const& size : sizes) fmt::print("{}:{}\n", e.name, size);
  fmt::print("{}\n", latency);
}

// Starts ranks to see that they come.
ClusterOptions check(ClusterFlags const& f) {
  long const ranks = in_range("--ranks", f.ranks, 2, most_ranks);
  long const repetitions = number_or("--repetitions", f.repetitions, f.quick ? 2 : 5, 1'000'000);
  ClusterOptions o(live_machine(), Launcher(f.mpi, f.launcher));
  o.ranks = static_cast<int>(ranks);
  o.repetitions = static_cast<int>(repetitions);
  o.quick = f.quick;
  o.latencies = f.only.empty() && !f.large;
  if (f.only.empty())
    for (Entry const& e : entries()) {
      if (!f.large || !e.large.empty()) add_problems(o, f, e.name);
    }
  else
    for (auto const& word : words_of("--only", f.only)) add_problems(o, f, word);
  std::string const usual =
      "random+one,random+half,hierarchical+half,hierarchical+hierarchical,lifelines+half";
  for (auto const& word : words_of("--policies", f.policies.empty() ? usual : f.policies))
    o.policies.push_back(policy_from(word));
  try_policies(o);
  if (auto const note = try_launcher(o); !note.empty())
    o.note = note + ", and times tell more of the system's scheduler than of nigh";
  return o;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  ClusterFlags f;
  std::optional<ClusterOptions> o;
  return run_benchmark(
      {.name = "cluster",
       .measures = "problems on many ranks, by whom ranks ask for tasks and for how many",
       .wrong = "an answer is not the one of one rank",
       .samples = "each; default 5",
       .quick = "tiny problems and few samples",
       .process = Benchmark::Process::plain,
       .options =
           [&](CLI::App& app) {
             app.add_option("--mpi", f.mpi, "openmpi or mpich; default: the first that is here");
             app.add_option("--launcher", f.launcher,
                            "how ranks are started, as 'mpirun -n {ranks} -H a,b'; default: that "
                            "MPI's mpirun");
             app.add_option("--ranks", f.ranks, "default 2");
             app.add_option(
                 "--only", f.only,
                 "as fib,uts:T1L,latency; default: all that --list names but the large ones");
             app.add_option(
                 "--policies", f.policies,
                 "whom ranks ask+for how many tasks, as random+one,hierarchical+fixed:4; default: "
                 "those of HotSLAW's paper, and lifelines");
             app.add_flag("--large", f.large, "the trees of HotSLAW's paper, of 100 million tasks");
           },
       .list = list_cluster_problems,
       .plan = [&]() -> Plan {
         o.emplace(check(f));
         return {&o->machine,
                 {[&] { return findings(study(*o), *o); },
                  [&] { return findings(study_latencies(*o), *o); }}};
       }},
      f, argc, argv);
}
