// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options that experiments share.

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace nigh::cli {

// Where results go: text to standard output, JSON lines to a file, a figure of them to another.
struct SimOutput {
  char const* figure = nullptr;  // its script, if there is one
  std::string json, plot;

  void add_to(CLI::App& command);
  void check() const;  // before what takes long
  // With "-" for the lines, the text goes to standard error.
  void write(std::string const& text, std::string const& lines) const;
};

struct SimSeeds {
  int seeds = 5;
  std::uint64_t seed = 1;  // the first one

  void add_to(CLI::App& command);
};

// --machine NAME, which `into` already is the usual one of.
void add_machine(CLI::App& command, std::string& into);
// Of an option: refuses "nan", which lies in every CLI::Range.
std::function<std::string(std::string const&)> not_nan();
// --tree NAME, of UTS, likewise.
void add_tree(CLI::App& command, std::string& into);
// --seed N, of an experiment that has but one.
void add_seed(CLI::App& command, std::uint64_t& into, std::string const& what);

}  // namespace nigh::cli
