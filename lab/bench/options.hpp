// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options of drivers: words and numbers as values, or a UsageError that names the argument.

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {

// The part that every driver has around its measurement: options, one-line complaints, exit codes.

class App;
}  // namespace CLI

namespace bench {

// A mistake of the user's; the message names the argument. Printed as one line, exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Parses the arguments into what `declare` bound and then calls `body`. The program speaks of
// itself as `program`: the words of a command of nigh, or the name of its file.
int run_program(std::string const& program, std::string const& description, int argc, char** argv,
                std::function<void(CLI::App&)> const& declare, std::function<void()> const& body);

// OpenMP runtimes read their settings when they are loaded: sets the variables that are not set
// yet as given and starts the program again, once. Idle threads of one runtime must sleep while
// another one is measured, yet not be slower to wake than users see: spin for about a millisecond.
void restart_with_openmp_settings(char** argv);

// Recursion by tasks goes deep, and deeper where a waiting thread takes up other tasks on top of
// its own. To be called before the restart, for the main thread's stack gets its limit when the
// program starts: 1 GiB, or what the system allows, for that one and for OpenMP's threads.
void allow_deep_stacks();

// The first `threads` of the machine's allowed cpus, compact: where the threads of every variant
// are pinned. UsageError when there are not so many.
std::vector<int> cpus_for(long threads, nigh::topology const& machine);

// "0-2,5" as a list of cpus; UsageError naming the argument.
std::vector<int> parse_cpu_list(std::string const& argument, std::string const& text);

}  // namespace bench

namespace bench {

// UsageError: ARGUMENT: "WORD" WHY
[[noreturn]] void refuse(std::string const& argument, std::string const& word,
                         std::string const& why);

long in_range(std::string const& argument, long value, long least, long most);
// The given number, at least 1; `otherwise` where none was given.
long number_or(std::string const& argument, std::optional<long> given, long otherwise, long most);

// The words between commas; none is empty.
std::vector<std::string> words_of(std::string const& argument, std::string const& list);

// Each word's value once, in the words' order. parse(argument, word)
template <class T, class Parse>
std::vector<T> each(std::string const& argument, std::string const& list, Parse const& parse) {
  std::vector<T> values;
  for (std::string const& word : words_of(argument, list)) {
    T const value = parse(argument, word);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

// "1,4" as numbers from 1 to `most`, ascending.
std::vector<int> numbers(std::string const& argument, std::string const& list, int most);
// 1, 2, 4, ... and `most`.
std::vector<int> doubling_to(int most);

// The machine this runs on, or std::runtime_error.
nigh::topology live_machine();

// The result of a workload's find_variant() or find_kernel() for the word.
template <class Info>
Info const& present_variant(std::string const& argument, std::string const& word,
                            Info const* found) {
  if (found == nullptr) refuse(argument, word, "is not there; --list names the variants");
  if (found->make == nullptr) refuse(argument, word, "is absent: " + found->why_absent);
  return *found;
}

template <class Kernel>
Kernel const& present_kernel(std::string const& argument, std::string const& word,
                             Kernel const* found) {
  if (found == nullptr) refuse(argument, word, "is none of this processor's instruction sets");
  return *found;
}

// For --list.
template <class Info>
void list_variants(std::vector<Info> const& variants) {
  for (Info const& v : variants)
    if (v.make != nullptr)
      fmt::print("{}\n", v.name);
    else
      fmt::print("{}  (absent: {})\n", v.name, v.why_absent);
}

}  // namespace bench
