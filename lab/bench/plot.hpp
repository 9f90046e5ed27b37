// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures, drawn by the Python scripts in bench/plots (matplotlib) from result lines.

#include <string>
#include <vector>

namespace bench {

class Plot {
 public:
  // UsageError naming the argument when the file's name does not end in .svg or .png, the file
  // cannot be written, or there is no matplotlib. An empty name: no figure.
  Plot(std::string const& argument, std::string file);

  void add(std::string line) { lines_.push_back(std::move(line)); }
  void draw(std::string const& script) const;  // plots/SCRIPT.py

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

}  // namespace bench
