// SPDX-License-Identifier: Apache-2.0
#pragma once
// The measurement of a run: its time, or a number in its output.

#include <chrono>
#include <iosfwd>
#include <memory>
#include <nigh/result.hpp>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace nigh::cli {

class Metric {
 public:
  Metric() = default;  // wall time in seconds
  // The first group of the last match in the output; the error names the mistake in the expression.
  // Every expression is fast on every output: RE2 does not backtrack.
  static result<Metric> in_output(std::string const& expression, bool maximize);

  bool is_time() const { return !expression_; }
  // The program's number; an error when there is none, or it cannot be compared. Of a long output
  // it holds a line's end at a time.
  result<double> value(double seconds, std::istream& output) const;
  result<double> value(double seconds, std::string const& output) const;
  // Costs are positive, less is better.
  double cost(double value) const { return maximize_ ? 1 / value : value; }
  double value_of_cost(double cost) const { return maximize_ ? 1 / cost : cost; }
  std::string name() const { return is_time() ? "time" : text_; }
  std::string unit() const { return is_time() ? "s" : ""; }

 private:
  std::shared_ptr<re2::RE2 const> expression_;
  std::string text_;
  bool maximize_ = false;
};

// "90", "90s", "10m", "1.5h".
result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace nigh::cli
