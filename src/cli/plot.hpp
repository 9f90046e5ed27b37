// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures, drawn by the scripts in libexec/nigh/plots (Python, matplotlib) from result lines.

#include <string>

namespace nigh::cli {

// UsageError naming the option when the file's name does not end in .svg or .png, it cannot be
// written, or there is nothing to draw with.
void check_figure(std::string const& option, std::string const& file, std::string const& script);

void draw_figure(std::string const& file, std::string const& script, std::string const& lines);

}  // namespace nigh::cli
