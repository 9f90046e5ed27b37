// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page: made of a report's data by scripts in libexec/nigh/report (Python, plotly).

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nigh::cli {

class Page {
 public:
  // UsageError when the file cannot be written, is something else than a report of nigh (unless
  // `force`), or there is nothing to draw with.
  Page(std::string file, bool force);

  // Throws when the data make no sense to the script, which has said why.
  void write(nlohmann::ordered_json const& document) const;

 private:
  std::string file_;
  std::string python_;
};

}  // namespace nigh::cli
