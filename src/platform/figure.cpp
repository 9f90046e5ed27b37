// SPDX-License-Identifier: Apache-2.0
#include "platform/figure.hpp"

#include <fstream>
#include <system_error>

#include "platform/own_path.hpp"
#include "platform/program.hpp"
#include "platform/temporary_folder.hpp"

namespace nigh::platform {
namespace fs = std::filesystem;
namespace {

result<std::string> drawing_python() { return python_with("matplotlib", "matplotlib.pyplot"); }

}  // namespace

std::string why_no_figure(std::string const& file, fs::path const& script) {
  if (!file.ends_with(".svg") && !file.ends_with(".png")) return file + " is neither .svg nor .png";
  std::error_code failed;
  if (!fs::exists(script, failed)) return script.string() + " is missing";
  auto const python = drawing_python();
  return python ? std::string() : python.message();
}

result<void> draw_figure(std::string const& file, fs::path const& script,
                         std::string const& lines) {
  auto const python = drawing_python();
  if (!python) return python.to_error();
  auto const data = make_temporary_file(temporary_folder(), "nigh-figure.");
  if (!data) return data.to_error();
  std::ofstream(*data, std::ios::binary) << lines;
  auto const status = run_program({*python, "-B", script.string(), data->string(), file}, {});
  std::error_code failed;
  fs::remove(*data, failed);
  if (!status || *status != 0) return error{file + ": the figure could not be drawn"};
  return {};
}

}  // namespace nigh::platform
