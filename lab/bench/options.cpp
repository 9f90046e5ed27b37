// SPDX-License-Identifier: Apache-2.0
#include "bench/options.hpp"

#include <sstream>

#include "bench/command.hpp"
#include "workloads/size_text.hpp"

namespace bench {

void refuse(std::string const& argument, std::string const& word, std::string const& why) {
  throw UsageError(argument + ": \"" + word + "\" " + why);
}

long in_range(std::string const& argument, long value, long least, long most) {
  if (value >= least && value <= most) return value;
  throw UsageError(
      fmt::format("{}: {} is not a number from {} to {}", argument, value, least, most));
}

long number_or(std::string const& argument, std::optional<long> given, long otherwise, long most) {
  return given ? in_range(argument, *given, 1, most) : otherwise;
}

std::vector<std::string> words_of(std::string const& argument, std::string const& list) {
  std::vector<std::string> words;
  std::istringstream in(list + ',');
  for (std::string word; std::getline(in, word, ',');) {
    if (word.empty()) refuse(argument, list, "has nothing between two commas");
    words.push_back(word);
  }
  return words;
}

std::vector<int> numbers(std::string const& argument, std::string const& list, int most) {
  auto values = each<int>(argument, list, [&](auto const&, std::string const& word) {
    try {
      return static_cast<int>(workloads::number(word, 1, most));
    } catch (std::invalid_argument const& e) {
      throw UsageError(argument + ": " + e.what());
    }
  });
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int> doubling_to(int most) {
  std::vector<int> list;
  for (int t = 1; t < most; t *= 2) list.push_back(t);
  list.push_back(most);
  return list;
}

nigh::topology live_machine() {
  nigh::result<nigh::topology> live = nigh::topology::live();
  if (!live) throw std::runtime_error(live.message());
  return std::move(live).value();
}

}  // namespace bench
