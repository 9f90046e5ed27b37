// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text in columns: the first one flush left, the others flush right.

#include <string>
#include <vector>

namespace bench {

class Table {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void rule() { rows_.emplace_back(); }  // a line across
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bench
