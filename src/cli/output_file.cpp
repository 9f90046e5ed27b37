// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "cli/commands.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void cannot_write(std::string const& file, std::string const& why) {
  throw UsageError("cannot write " + file + ": " + why);
}

bool fill(fs::path const& path, std::string_view text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return out.good();
}

// Where a symbolic link points to, when it does.
fs::path target_of(std::string const& file) {
  std::error_code failed;
  auto const target = fs::path(file);
  if (!fs::is_symlink(target, failed)) return target;
  auto const real = fs::canonical(target, failed);
  return failed ? target : real;
}

fs::path beside(fs::path path) {
  path += "." + std::to_string(std::random_device{}()) + ".part";
  return path;
}

}  // namespace

void check_output(std::string const& file) {
  if (file == "-") return;
  std::error_code failed;
  auto const target = target_of(file);
  if (fs::is_directory(target, failed)) cannot_write(file, "it is a directory");
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) return;
  auto const part = beside(target);
  bool const good = fill(part, {});
  std::string const why = std::strerror(errno);
  fs::remove(part, failed);
  if (!good) cannot_write(file, why);
}

void write_output(std::string const& file, std::string_view text) {
  if (file == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      cannot_write("standard output", std::strerror(errno));
    return;
  }
  std::error_code failed;
  auto const target = target_of(file);
  if (fs::is_directory(target, failed)) cannot_write(file, "it is a directory");
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) {
    if (!fill(target, text)) cannot_write(file, std::strerror(errno));
    return;
  }
  auto const part = beside(target);
  if (!fill(part, text)) {
    std::string const why = std::strerror(errno);
    fs::remove(part, failed);
    cannot_write(file, why);
  }
  fs::rename(part, target, failed);
  if (!failed) return;
  auto const why = failed.message();
  fs::remove(part, failed);
  cannot_write(file, why);
}

}  // namespace nigh::cli
