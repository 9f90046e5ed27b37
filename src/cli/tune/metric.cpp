// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/metric.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <istream>
#include <optional>
#include <sstream>
#include <string_view>

namespace nigh::cli {

namespace {

// Of a longer output, the end: each match may have looked at all that follows it.
constexpr std::size_t longest_line = 1 << 16;

// Of the last match that has it.
std::optional<std::string> last_group(re2::RE2 const& expression, re2::StringPiece line) {
  std::optional<std::string> found;
  std::array<re2::StringPiece, 2> match;
  for (std::size_t at = 0; at <= line.size();) {
    if (!expression.Match(line, at, line.size(), re2::RE2::UNANCHORED, match.data(), 2)) break;
    found = std::string(match[1]);
    auto const end = static_cast<std::size_t>(match[0].data() - line.data()) + match[0].size();
    at = match[0].empty() ? end + 1 : end;
  }
  return found;
}

}  // namespace

result<Metric> Metric::in_output(std::string const& expression, bool maximize) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // an output may be any bytes
  Metric metric;
  metric.expression_ = std::make_shared<re2::RE2 const>(expression, options);
  if (!metric.expression_->ok())
    return error{"'" + expression + "' is no regular expression: " + metric.expression_->error()};
  if (metric.expression_->NumberOfCapturingGroups() == 0)
    return error{"'" + expression +
                 "' has no group: put the number in parentheses, as 'time: ([0-9.]+)'"};
  metric.text_ = expression;
  metric.maximize_ = maximize;
  return metric;
}

result<double> Metric::value(double seconds, std::istream& output) const {
  if (is_time()) return seconds;
  std::optional<std::string> found;
  std::string line;  // its end, of a long one
  auto const keep_end = [&line] {
    if (line.size() > longest_line) line.erase(0, line.size() - longest_line);
  };
  auto const search_line = [&] {
    keep_end();
    if (!line.empty())
      if (auto const group = last_group(*expression_, line)) found = *group;
    line.clear();
  };
  std::array<char, 1 << 16> block;
  for (bool is_more = true; is_more;) {
    is_more = output.read(block.data(), block.size()).good();
    std::string_view rest(block.data(), static_cast<std::size_t>(output.gcount()));
    for (auto end = rest.find_first_of("\r\n"); end != rest.npos; end = rest.find_first_of("\r\n")) {
      line += rest.substr(0, end);
      search_line();
      rest.remove_prefix(end + 1);
    }
    line += rest;
    keep_end();
  }
  search_line();
  if (!found) return error{"its output has nothing that matches '" + text_ + "'"};
  std::string const& last = *found;
  char* end = nullptr;
  double const value = std::strtod(last.c_str(), &end);
  if (last.empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
    return error{"'" + last + "' in its output is no positive number"};
  return value;
}

result<double> Metric::value(double seconds, std::string const& output) const {
  std::istringstream in(output);
  return value(seconds, in);
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
