// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text in columns: the first one flush left, the others flush right.

#include <algorithm>
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

// Columns on the screen: UTF-8 continuation bytes take none.
inline std::size_t width_of(std::string const& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

inline std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (auto const& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (std::size_t const w : widths) total += w;

  std::string out;
  for (auto const& row : rows_) {
    std::string line;
    if (row.empty()) line.assign(total, '-');
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::string const pad(widths[c] - width_of(row[c]), ' ');
      if (c > 0) line += "  ";
      line += c == 0 ? row[c] + pad : pad + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace bench
