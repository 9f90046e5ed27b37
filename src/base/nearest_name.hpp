// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name that somebody may have meant who wrote another word.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nigh::base {

// Letters to insert, leave out, replace, or swap with their neighbour, so that one word is the
// other (Damerau and Levenshtein; no part of a word is changed twice).
inline std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// The first of the nearest names that differ from the word in at most a third of the letters;
// empty when there is none.
inline std::string nearest_name(std::string_view word, std::vector<std::string> const& names) {
  std::string nearest;
  std::size_t least = std::string_view::npos;
  for (auto const& name : names) {
    auto const apart = letters_apart(word, name);
    if (apart >= least || apart > std::max(word.size(), name.size()) / 3) continue;
    least = apart;
    nearest = name;
  }
  return nearest;
}

// The end of a complaint about a word: "; did you mean 'run'?". Without a near name, "; " and where
// the names are listed, or nothing where the complaint lists them itself.
inline std::string did_you_mean(std::string_view word, std::vector<std::string> const& names,
                                std::string const& where_listed = {}) {
  auto const nearest = nearest_name(word, names);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  return where_listed.empty() ? std::string() : "; " + where_listed;
}

}  // namespace nigh::base
