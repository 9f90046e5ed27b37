// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "platform/own_path.hpp"
#include "platform/progress.hpp"

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

// A file that did not exist before; why it cannot be made, or empty.
std::string fill_new(fs::path const& path, std::string_view text) {
  auto made = platform::make_new_file(path, 0666);
  if (!made) return made.message();
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), made->get());
  if (platform::is_closed_well(std::move(made).value())) return {};
  std::string why = std::strerror(errno);
  std::error_code failed;
  fs::remove(path, failed);
  return why;
}

// The target of a symbolic link; otherwise the path itself.
fs::path target_of(std::string const& file) {
  std::error_code failed;
  auto const target = fs::path(file);
  if (!fs::is_symlink(target, failed)) return target;
  auto const real = fs::canonical(target, failed);
  return failed ? target : real;
}

// A file that its owner may not write is not to be replaced, either.
void check_not_protected(std::string const& file, fs::path const& target) {
  std::error_code failed;
  auto const may = fs::status(target, failed);
  if (failed || may.type() != fs::file_type::regular) return;
  if ((may.permissions() & fs::perms::owner_write) == fs::perms::none)
    cannot_write(file, "it is write-protected");
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
  check_not_protected(file, target);
  auto const part = beside(target);
  auto const why = fill_new(part, {});
  fs::remove(part, failed);
  if (!why.empty()) cannot_write(file, why);
}

void write_output(std::string const& file, std::string_view text) {
  if (file == "-") {
    // Text from a file must not command the terminal that it is printed on.
    auto const shown = base::printable_lines(text);
    platform::Progress::make_way();
    if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() ||
        std::fflush(stdout) != 0)
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
  check_not_protected(file, target);
  auto const part = beside(target);
  if (auto const why = fill_new(part, text); !why.empty()) cannot_write(file, why);
  auto const before = fs::status(target, failed).permissions();
  if (!failed) fs::permissions(part, before, failed);
  fs::rename(part, target, failed);
  if (!failed) return;
  auto const why = failed.message();
  fs::remove(part, failed);
  cannot_write(file, why);
}

void say(std::string_view command, std::string_view what) {
  platform::Progress::make_way();
  auto const line = fmt::format("nigh: {}: {}\n", command, base::printable_lines(what));
  std::fputs(line.c_str(), stderr);  // what was found is not lost because nobody can read this
}

}  // namespace nigh::cli
