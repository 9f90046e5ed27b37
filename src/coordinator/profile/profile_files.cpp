// SPDX-License-Identifier: Apache-2.0
#include "coordinator/profile/profile_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "json/bounded.hpp"
#include "platform/own_path.hpp"
#include "platform/owned_file.hpp"
#include "platform/program.hpp"

namespace nigh::coordinator {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view ending = ".json";
constexpr std::size_t identity_digits = 16;
constexpr std::chrono::milliseconds between_tries{2};

fs::path from_environment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

// By $NIGH_PROFILES; empty: none are kept.
std::optional<fs::path> told_profiles() {
  auto const told = from_environment("NIGH_PROFILES");
  if (told.empty()) return {};
  return told == "none" ? fs::path() : fs::absolute(told);
}

std::string digits(std::uint64_t binary) {
  std::string text(identity_digits, '0');
  for (auto digit = text.rbegin(); binary != 0; binary >>= 4)
    *digit++ = "0123456789abcdef"[binary & 15];
  return text;
}

// "-XXXXXXXXXXXXXXXX.json", or empty.
std::string tail_of(std::string const& name) {
  constexpr auto length = 1 + identity_digits + ending.size();
  if (name.size() <= length) return {};
  auto tail = name.substr(name.size() - length);
  bool const is_ours = tail[0] == '-' && tail.ends_with(ending) &&
                       tail.find_first_not_of("0123456789abcdef", 1) == 1 + identity_digits;
  return is_ours ? tail : std::string();
}

std::string file_name(std::string const& program, std::uint64_t binary) {
  std::string name = program.substr(0, 47);
  for (char& c : name) {
    bool const is_plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
                          ('0' <= c && c <= '9') || c == '.' || c == '_' || c == '-' || c == '+';
    if (!is_plain) c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  return name + '-' + digits(binary) + std::string(ending);
}

result<void> write_whole(fs::path const& file, std::string const& text) {
  auto part = file;
  part += '.' + std::to_string(platform::process_id()) + ".part";
  std::error_code failed;
  auto made = platform::make_new_file(part, 0600);
  if (!made) return error{file.string() + ": " + made.message()};
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), made->get());
  if (!platform::is_closed_well(std::move(made).value())) {
    std::string const why = std::strerror(errno);
    fs::remove(part, failed);
    return error{file.string() + ": " + why};
  }
  fs::rename(part, file, failed);
  if (!failed) return {};
  auto const why = failed.message();
  fs::remove(part, failed);
  return error{file.string() + ": " + why};
}

result<platform::OwnedFile> take_turn(fs::path const& directory,
                                      std::chrono::milliseconds patience) {
  auto const lock = directory / ".lock";
  for (;; patience -= between_tries) {
    auto taken = platform::OwnedFile::open(lock);
    if (!taken) return error{lock.string() + ": " + taken.message()};
    if (*taken) return std::move(**taken);
    if (patience <= patience.zero()) return error{lock.string() + ": another process has it"};
    std::this_thread::sleep_for(between_tries);
  }
}

}  // namespace

fs::path own_profiles() {
  if (auto const told = told_profiles()) return *told;
  auto const home = from_environment("HOME");
  auto state = from_environment("XDG_STATE_HOME");
  if (!state.is_absolute()) {
    if (!home.is_absolute()) return {};
    state = home / ".local" / "state";
  }
  if (platform::is_root_in_home_of_another(home)) return {};
  return state / "nigh" / "profiles";
}

fs::path shared_profiles() {
  if (auto const told = told_profiles()) return *told;
  auto const state = from_environment("STATE_DIRECTORY");
  return (state.is_absolute() ? state : fs::path("/var/lib/nigh")) / "profiles";
}

std::vector<fs::path> profile_files(fs::path const& directory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code failed;
  for (auto it = fs::directory_iterator(directory, failed);
       !failed && it != fs::directory_iterator(); it.increment(failed)) {
    if (tail_of(it->path().filename().string()).empty()) continue;
    std::error_code gone;
    auto const written = it->last_write_time(gone);
    if (!gone) found.emplace_back(written, it->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> files;
  for (auto& [written, file] : found) files.push_back(std::move(file));
  return files;
}

fs::path library_profiles(fs::path const& directory) { return directory / "libraries"; }

fs::path profile_file(fs::path const& directory, std::string const& program, std::uint64_t binary) {
  auto const named = directory / file_name(program, binary);
  std::error_code failed;
  if (fs::exists(named, failed)) return named;
  auto const tail = '-' + digits(binary) + std::string(ending);
  for (auto const& file : profile_files(directory))
    if (tail_of(file.filename().string()) == tail) return file;
  return named;
}

result<std::optional<ProgramProfile>> read_profile(fs::path const& file) {
  std::error_code failed;
  auto const status = fs::status(file, failed);
  if (status.type() == fs::file_type::not_found) return std::optional<ProgramProfile>();
  if (status.type() != fs::file_type::regular) return error{file.string() + " is no regular file"};
  auto const text = json::read_file(file, largest_profile);
  if (!text) return error{file.string() + ' ' + text.message()};
  auto profile = parse_profile(*text);
  if (!profile) return error{file.string() + ' ' + profile.message()};
  return std::optional(std::move(profile).value());
}

result<void> change_profile(fs::path const& directory, std::string const& program,
                            std::uint64_t binary,
                            std::function<void(ProgramProfile&)> const& change,
                            std::chrono::milliseconds patience) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) return error{directory.string() + " cannot be made: " + failed.message()};
  auto const turn = take_turn(directory, patience);
  if (!turn) return turn.to_error();
  auto const file = profile_file(directory, program, binary);
  auto const there = read_profile(file);
  if (!there) return there.to_error();
  auto profile = *there ? **there : ProgramProfile{.program = program, .binary = binary};
  change(profile);
  auto const text = profile_text(profile);
  if (auto const wrong = parse_profile(text); !wrong)
    return error{file.string() + " is not written: it " + wrong.message()};
  return write_whole(file, text);
}

result<void> remove_profile(fs::path const& file) {
  auto const turn = take_turn(file.parent_path(), usual_patience);
  if (!turn) return turn.to_error();
  std::error_code failed;
  fs::remove(file, failed);
  if (failed) return error{file.string() + ": " + failed.message()};
  return {};
}

void keep_newest(fs::path const& directory, std::size_t most_files, std::uint64_t most_bytes) {
  auto const files = profile_files(directory);
  auto const size_of = [](fs::path const& file) -> std::uint64_t {
    std::error_code gone;
    auto const size = fs::file_size(file, gone);
    return gone ? 0 : size;
  };
  std::uint64_t bytes = 0;
  for (auto const& file : files) bytes += size_of(file);
  auto count = files.size();
  for (auto const& file : files) {
    if (count <= most_files && bytes <= most_bytes) return;
    auto const profile = read_profile(file);
    bool const is_wanted =
        profile && *profile &&
        std::any_of((*profile)->regions.begin(), (*profile)->regions.end(),
                    [](RegionProfile const& r) { return r.source != Source::learnt; });
    if (is_wanted) continue;
    auto const size = size_of(file);
    std::error_code failed;
    fs::remove(file, failed);
    --count;
    bytes -= std::min(bytes, size);
  }
}

}  // namespace nigh::coordinator
