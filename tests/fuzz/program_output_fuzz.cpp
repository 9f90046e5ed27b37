// SPDX-License-Identifier: Apache-2.0
// Any output of a program that nigh tune runs, behind a first line with the expression of --metric.
#include <algorithm>
#include <string>

#include "cli/program_output.hpp"
#include "cli/tune/last_words.hpp"
#include "cli/tune/metric.hpp"
#include "fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::cli;
  auto const text = fuzz::text_of(data, size);
  auto const end = std::min(text.find('\n'), text.size());
  std::string const expression(text.substr(0, end));
  std::string const output(text.substr(std::min(end + 1, text.size())));
  static_cast<void>(parse_duration(expression));
  static_cast<void>(last_lines(output, 3));
  static_cast<void>(reason_of_launcher(output));
  for (bool const maximize : {false, true}) {
    auto const metric = Metric::in_output(expression, maximize);
    if (!metric) return 0;
    if (auto const value = metric->value(1, output))
      fuzz::require(metric->cost(*value) > 0, "costs are positive");
  }
  return 0;
}
