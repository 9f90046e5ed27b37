// SPDX-License-Identifier: Apache-2.0
#include "platform/process_stat.hpp"

#include <sstream>

#include "platform/whole_file.hpp"

namespace nigh::platform {

std::optional<std::int64_t> ProcessStat::number(std::size_t field) const {
  std::istringstream words(later_fields);
  std::string skipped;
  for (std::size_t i = 3; i < field; ++i) words >> skipped;
  std::int64_t value = 0;
  if (!(words >> value)) return std::nullopt;
  return value;
}

std::optional<ProcessStat> read_stat(std::filesystem::path const& file) {
  auto const text = text_of(file.string());
  // The name may hold anything, and so parentheses, too.
  auto const open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  return ProcessStat{text.substr(open + 1, close - open - 1), text.substr(close + 1)};
}

}  // namespace nigh::platform
