// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/launcher.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace nigh::cli {
namespace {

enum class Kind { none, mpirun, srun };

Kind kind_of(std::string_view word) {
  auto const name = word.substr(word.rfind('/') + 1);
  for (std::string_view const known : {"mpirun", "mpiexec", "orterun", "prterun"})
    if (name.starts_with(known)) return Kind::mpirun;
  return name == "srun" ? Kind::srun : Kind::none;
}

// Options whose values may be names of programs, or look like them, and how many they have.
int values_that_look_like_programs(Kind launcher, std::string_view word) {
  if (!word.starts_with('-') || word.find('=') != word.npos) return 0;
  word.remove_prefix(word.find_first_not_of('-') == word.npos ? 0 : word.find_first_not_of('-'));
  auto const is_one_of = [&](auto const& names) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  constexpr std::array<std::string_view, 7> pairs{"mca",     "gmca", "omca", "pmca",
                                                  "prtemca", "env",  "genv"};
  constexpr std::array<std::string_view, 27> singles{
      "launcher", "launcher-exec", "bootstrap", "bootstrap-exec", "rmk",      "x",
      "envlist",  "genvlist",      "host",      "hosts",          "H",        "personality",
      "map-by",   "rank-by",       "bind-to",   "membind",        "wdir",     "wd",
      "display",  "hostfile",      "f",         "machinefile",    "output",   "output-filename",
      "stdin",    "prefix",        "path"};
  constexpr std::array<std::string_view, 12> slurms{
      "J", "job-name", "p", "partition", "A", "account", "q", "qos", "w", "x", "C", "reservation"};
  if (launcher == Kind::srun) return is_one_of(slurms) ? 1 : 0;
  return is_one_of(pairs) ? 2 : is_one_of(singles) ? 1 : 0;
}

bool says_how_to_bind(std::string_view word) {
  for (std::string_view const option : {"--bind-to", "-bind-to", "--cpu-bind", "--cpu_bind"})
    if (word.starts_with(option)) return true;
  return false;
}

constexpr std::array<std::string_view, 4> placeholders{"ranks", "ranks_per_host", "threads", "run"};

// Hands out the text around placeholders, and their names. "{{" is a brace. Braces around anything
// except a word of small letters belong to another program.
template <class Text, class Name>
void each_part(std::string_view word, Text const& text, Name const& name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
  while (!word.empty()) {
    auto const open = word.find('{');
    text(word.substr(0, open));
    if (open == word.npos) return;
    word.remove_prefix(open + 1);
    auto const end = word.find_first_not_of(letters);
    if (word.starts_with('{')) {
      text("{");
      word.remove_prefix(1);
    } else if (end != word.npos && end > 0 && word[end] == '}') {
      name(word.substr(0, end));
      word.remove_prefix(end + 1);
    } else {
      text("{");
    }
  }
}

std::vector<std::string> names_in(std::string_view word) {
  std::vector<std::string> names;
  each_part(word, [](std::string_view) {}, [&](std::string_view n) { names.emplace_back(n); });
  return names;
}

bool is_known(std::string const& name) {
  return std::find(placeholders.begin(), placeholders.end(), name) != placeholders.end();
}

std::string in_braces(std::string const& name) { return "{" + name + "}"; }

// The error about placeholders alone; true: the words are for us.
result<bool> has_placeholders(std::vector<std::string> const& words) {
  std::map<std::string, int> seen;
  for (auto const& word : words)
    for (auto const& name : names_in(word)) ++seen[name];
  bool const is_ours = seen.contains("ranks") || seen.contains("ranks_per_host");
  for (std::string const name : {"threads", "run"})
    if (!is_ours && seen.contains(name))
      return error{
          in_braces(name) +
          " goes with {ranks}, in the command line of a launcher: mpirun -n {ranks} ./app"};
  auto const unknown = [](std::string const& name) {
    return error{in_braces(name) +
                 " is none of {ranks}, {ranks_per_host}, {threads}, {run}; {{ stands for {"};
  };
  if (!is_ours) {
    // mpirun -n {rank}: no number of ranks is written like that.
    for (std::size_t i = 1; i < words.size() && is_launcher(words.front()); ++i)
      if (auto const names = names_in(words[i]); names.size() == 1 &&
                                                 words[i] == in_braces(names[0]) &&
                                                 (words[i - 1] == "-n" || words[i - 1] == "-np"))
        return unknown(names[0]);
    return false;
  }
  for (auto const& [name, n] : seen)
    if (!is_known(name)) return unknown(name);
  auto const run = std::find(words.begin(), words.end(), "{run}");
  if (seen["run"] > (run == words.end() ? 0 : 1) || (run != words.end() && run + 1 == words.end()))
    return error{"{run} is a word of its own, once, before the program of the ranks"};
  return true;
}

}  // namespace

bool is_launcher(std::string const& word) { return kind_of(word) != Kind::none; }

result<std::optional<LauncherLine>> LauncherLine::parse(std::vector<std::string> words,
                                                        IsProgram const& is_program) {
  auto const is_ours = has_placeholders(words);
  if (!is_ours) return is_ours.to_error();
  if (!*is_ours) return std::optional<LauncherLine>();

  LauncherLine line;
  line.words_ = std::move(words);
  auto const& all = line.words_;
  auto const run = std::find(all.begin(), all.end(), "{run}");
  line.says_run_ = run != all.end();
  auto const launcher = std::find_if(all.begin(), run, is_launcher);
  auto const kind = launcher == run ? Kind::none : kind_of(*launcher);
  if (kind == Kind::none && !line.says_run_)
    return error{
        "{ranks} is for launchers of MPI programs (mpirun, mpiexec, srun), and there is none; with "
        "another one, write {run} before the program of the ranks"};
  line.launcher_ =
      kind == Kind::none ? all.size() : static_cast<std::size_t>(launcher - all.begin());
  line.program_ = static_cast<std::size_t>(run - all.begin());
  if (!line.says_run_) {
    std::size_t at = line.launcher_ + 1;
    while (at < all.size() && (all[at].starts_with('-') || !is_program(all[at])))
      at += 1 + static_cast<std::size_t>(values_that_look_like_programs(kind, all[at]));
    if (at >= all.size())
      return error{"none of the words behind " + *launcher +
                   " is a program that can be run; where it begins, write {run}"};
    line.program_ = at;
  }
  bool const is_told =
      std::any_of(all.begin(), all.begin() + static_cast<long>(line.program_), says_how_to_bind);
  if (!is_told && kind == Kind::mpirun) line.unbound_ = {"--bind-to", "none"};
  if (!is_told && kind == Kind::srun) line.unbound_ = {"--cpu-bind=none"};
  return std::optional(std::move(line));
}

std::vector<std::string> LauncherLine::words(LauncherValues const& values) const {
  std::map<std::string, std::string, std::less<>> const meaning{
      {"ranks", std::to_string(values.ranks)},
      {"ranks_per_host", std::to_string(values.ranks_per_host)},
      {"threads", std::to_string(values.threads)}};
  std::vector<std::string> line;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (i == program_) line.insert(line.end(), values.run.begin(), values.run.end());
    if (i == program_ && says_run_) continue;
    auto& word = line.emplace_back();
    each_part(
        words_[i], [&](std::string_view text) { word += text; },
        [&](std::string_view name) { word += meaning.find(name)->second; });
    if (i == launcher_ && !values.launcher_binds)
      line.insert(line.end(), unbound_.begin(), unbound_.end());
  }
  return line;
}

std::string const& LauncherLine::program() const { return words_[program_ + (says_run_ ? 1 : 0)]; }

}  // namespace nigh::cli
