// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures, drawn by Python scripts with matplotlib from lines of results.

#include <filesystem>
#include <nigh/result.hpp>
#include <string>

namespace nigh::platform {

// Why the script cannot draw into a file of that name, before anything is measured for it: neither
// .svg nor .png, no script, no matplotlib. Empty: it can.
std::string why_no_figure(std::string const& file, std::filesystem::path const& script);

// The script gets a file with the lines, and `file`. It complains on standard error itself; the
// error says that there is no figure.
result<void> draw_figure(std::string const& file, std::filesystem::path const& script,
                         std::string const& lines);

}  // namespace nigh::platform
