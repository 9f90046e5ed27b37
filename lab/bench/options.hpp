// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options of drivers: words and numbers as values, or a UsageError that names the argument.

#include <fmt/core.h>

#include <algorithm>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

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
