// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/launcher.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "bench/command.hpp"
#include "bench/options.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr char const* placeholder = "{ranks}";

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
      {"mpich", {"mpirun.mpich", "mpiexec.hydra", "mpirun"}, {"-n", placeholder}}};
  return all;
}

std::string program_file(std::string const& program, std::string const& mpi) {
  return (fs::path(libexec_folder()) / (program + '-' + mpi)).string();
}

bool is_built(Mpi const& mpi) { return fs::exists(program_file("cluster-tasks", mpi.name)); }

bool is_in_path(std::string const& program) {
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

std::string launcher_of(Mpi const& mpi) {
  auto const found = std::find_if(mpi.launchers.begin(), mpi.launchers.end(), is_in_path);
  return found == mpi.launchers.end() ? "" : *found;
}

Mpi const& find_mpi(std::string const& name, bool needs_launcher) {
  for (Mpi const& mpi : mpis()) {
    if (name.empty() && is_built(mpi) && (!needs_launcher || !launcher_of(mpi).empty())) return mpi;
    if (name != mpi.name) continue;
    if (!is_built(mpi)) refuse("--mpi", name, "is none that nigh was built with");
    if (needs_launcher && launcher_of(mpi).empty())
      refuse("--mpi", name, fmt::format("has no {} in PATH", mpi.launchers.front()));
    return mpi;
  }
  if (!name.empty()) refuse("--mpi", name, "is not openmpi or mpich");
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

Launcher::Launcher(std::string mpi, std::string const& words)
    : words_(words_between_blanks(words)) {
  Mpi const& found = find_mpi(mpi, words_.empty());
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
  return c;
}

RankReport parse_report(std::string const& errors) {
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

}  // namespace bench
