// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/last_words.hpp"

#include <array>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "cli/program_output.hpp"

namespace nigh::cli {
namespace {

bool is_rule(std::string_view line) {
  constexpr std::size_t long_enough = 20;
  return line.size() > long_enough &&
         line.find_first_not_of(line[0] == '=' ? "=" : "-") == line.npos;
}

struct Remedy {
  std::string_view complaint, remedy;
};
constexpr std::array<Remedy, 2> remedies{
    {{"run as root", "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 allow it"},
     {"not enough slots", "mpirun --oversubscribe or a host file allows more"}}};

}  // namespace

std::string reason_of_launcher(std::string const& output) {
  std::istringstream lines(output);
  std::string before, box;
  bool is_in_box = false;
  for (std::string line; std::getline(lines, line);) {
    if (is_rule(line)) {
      if (is_in_box || !before.empty()) break;
      is_in_box = true;
    } else if (!is_in_box) {
      before += line.empty() ? "" : line + '\n';
    } else if (line.find_first_not_of(" =") == line.npos) {
      if (!box.empty()) break;  // its first paragraph only
    } else {
      box += (box.empty() ? "" : " ") + line.substr(line.find_first_not_of(" ="));
    }
  }
  auto reason = before.empty() ? box : last_lines(before, 1);
  if (reason.ends_with(':')) reason.pop_back();
  for (auto const& [complaint, remedy] : remedies)
    if (reason.find(complaint) != reason.npos) reason += " (" + std::string(remedy) + ')';
  return reason;
}

}  // namespace nigh::cli
