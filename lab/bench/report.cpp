// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace bench {

void Report::print(std::string const& tables) { fmt::print(tables_, "{}", tables); }

void Report::keep(std::vector<Result> const& results) {
  for (Result const& r : results) {
    std::string line = json_line(r, record_);
    json_.write(line);
    plot_.add(std::move(line));
    verified_ = verified_ && r.verified.value_or(true);
  }
}

void Report::finish(std::string const& script, char const* complaint) {
  json_.finish();
  plot_.draw(script);
  if (!verified_) throw std::runtime_error(complaint);
}

}  // namespace bench
