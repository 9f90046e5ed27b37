// SPDX-License-Identifier: Apache-2.0
#include "platform/figure.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "platform/program.hpp"

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
  // In no folder, where a signal might leave it. The child has it open, too.
  int const data = ::memfd_create("nigh-figure", 0);
  if (data < 0) return error{file + ": " + std::strerror(errno)};
  auto const path = "/proc/self/fd/" + std::to_string(data);
  std::ofstream(path, std::ios::binary) << lines;
  auto const status = run_program({*python, "-B", script.string(), path, file}, {});
  ::close(data);
  if (!status || *status != 0) return error{file + ": the figure could not be drawn"};
  return {};
}

}  // namespace nigh::platform
