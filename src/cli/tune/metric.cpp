// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/metric.hpp"

#include <cmath>
#include <cstdlib>

namespace nigh::cli {

result<Metric> Metric::in_output(std::string const& expression, bool maximize) {
  Metric metric;
  try {
    metric.expression_.emplace(expression, std::regex::ECMAScript | std::regex::multiline);
  } catch (std::regex_error const& e) {
    return error{"'" + expression + "' is no regular expression"};
  }
  if (metric.expression_->mark_count() == 0)
    return error{"'" + expression +
                 "' has no group: put the number in parentheses, as 'time: ([0-9.]+)'"};
  metric.text_ = expression;
  metric.maximize_ = maximize;
  return metric;
}

result<double> Metric::value(double seconds, std::string const& output) const {
  if (is_time()) return seconds;
  std::string last;
  bool found = false;
  // Line by line: an expression on a long text can take the stack.
  for (std::size_t at = 0; at < output.size();) {
    auto const end = std::min(output.find('\n', at), output.size());
    std::string const line = output.substr(at, end - at);
    for (std::sregex_iterator m(line.begin(), line.end(), *expression_), none; m != none; ++m)
      last = (*m)[1].str(), found = true;
    at = end + 1;
  }
  if (!found) return error{"its output has nothing that matches '" + text_ + "'"};
  char* end = nullptr;
  double const value = std::strtod(last.c_str(), &end);
  if (last.empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
    return error{"'" + last + "' in its output is no positive number"};
  return value;
}

result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  std::string const copy(text);
  char* end = nullptr;
  double const number = std::strtod(copy.c_str(), &end);
  std::string_view const unit(end);
  double const seconds = unit.empty() || unit == "s" ? 1
                         : unit == "m"               ? 60
                         : unit == "h"               ? 3600
                                                     : 0;
  constexpr double most = 1e9;
  if (end == copy.c_str() || seconds == 0 || !(number > 0) || number * seconds > most)
    return error{"'" + copy + "' is no time as 90s, 10m or 2h"};
  return std::chrono::nanoseconds(static_cast<std::int64_t>(number * seconds * 1e9));
}

}  // namespace nigh::cli
