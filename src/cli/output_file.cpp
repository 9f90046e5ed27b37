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

}  // namespace

void write_output(std::string const& file, std::string_view text) {
  if (file == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      cannot_write("standard output", std::strerror(errno));
    return;
  }
  std::error_code failed;
  auto target = fs::path(file);
  if (fs::is_symlink(target, failed)) {
    if (auto const real = fs::canonical(target, failed); !failed) target = real;
  }
  if (fs::is_directory(target, failed)) cannot_write(file, "it is a directory");
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) {
    if (!fill(target, text)) cannot_write(file, std::strerror(errno));
    return;
  }
  auto beside = target;
  beside += "." + std::to_string(std::random_device{}()) + ".part";
  if (!fill(beside, text)) {
    std::string const why = std::strerror(errno);
    fs::remove(beside, failed);
    cannot_write(file, why);
  }
  fs::rename(beside, target, failed);
  if (!failed) return;
  auto const why = failed.message();
  fs::remove(beside, failed);
  cannot_write(file, why);
}

}  // namespace nigh::cli
