// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of a launcher of MPI programs, with placeholders for the values that are tried:
//
//   mpirun -n {ranks} ./solver --threads {threads}
//
// Pure: a callback says whether a word is a program.

#include <cstddef>
#include <functional>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <vector>

namespace nigh::cli {

bool is_launcher(std::string const& word);  // mpirun and the like, by their names

struct LauncherValues {
  int ranks = 1;  // on all hosts
  int ranks_per_host = 1;
  int threads = 1;                    // of each rank
  bool launcher_binds = false;        // as it does by itself; otherwise it is told not to
  std::vector<std::string> run = {};  // comes before the program of the ranks
};

class LauncherLine {
 public:
  using IsProgram = std::function<bool(std::string const& word)>;

  // Nothing: the words have no placeholder. The error says which placeholder makes no sense.
  static result<std::optional<LauncherLine>> parse(std::vector<std::string> words,
                                                   IsProgram const& is_program);

  std::vector<std::string> words(LauncherValues const& values) const;
  std::string const& program() const;             // the one that the ranks run
  bool is_guessed() const { return !says_run_; }  // no {run} says so

 private:
  std::vector<std::string> words_;
  std::size_t program_ = 0;   // where the program of the ranks begins, or {run} is
  bool says_run_ = false;     // there is a {run}
  std::size_t launcher_ = 0;  // its place; words_.size(): none that is known
  std::vector<std::string>
      unbound_;  // the words that tell the launcher to bind no rank; empty: told already
};

}  // namespace nigh::cli
