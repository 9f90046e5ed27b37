// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/programs.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

namespace fs = std::filesystem;

struct Entry {
  char const* file;
  char const* flag;
  char const *size, *tiny;
  char const* repeat;  // for about a second or two on two cpus; null: needs none
  std::vector<std::string> varying;
};

std::vector<Entry> entries() {
  return {{"gauss", "--size", "2400", "150", nullptr, {}},
          {"mmul", "--size", "1792", "200", nullptr, {}},
          {"npb-cg", "--class", "A", "S", "4", {}},
          {"npb-ep", "--class", "A", "S", nullptr, {}},
          {"npb-mg", "--class", "B", "S", nullptr, {" Threads", " Time in seconds", " Mop/s"}},
          {"adi", "--size", "1500", "60", nullptr, {}}};
}

}  // namespace

std::string SharingProgram::lasting(std::string const& output) const {
  std::istringstream in(output);
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (std::none_of(varying.begin(), varying.end(),
                     [&](std::string const& begin) { return line.starts_with(begin); }))
      kept += line + '\n';
  return kept;
}

std::string libexec_folder() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

std::string nigh_command() {
  fs::path const command = (fs::path(libexec_folder()) / "../../bin/nigh").lexically_normal();
  return fs::exists(command) ? command.string() : "";
}

std::vector<SharingProgram> sharing_programs(bool tiny) {
  std::vector<SharingProgram> all;
  for (Entry const& e : entries()) {
    fs::path const program = fs::path(libexec_folder()) / e.file;
    if (!fs::exists(program)) continue;
    std::string const size = tiny ? e.tiny : e.size;
    std::vector<std::string> words{program.string(), e.flag, size};
    if (e.repeat != nullptr && !tiny) words.insert(words.end(), {"--repeat", e.repeat});
    all.push_back({std::string(e.file) + ' ' + size, std::move(words), e.varying});
  }
  if (all.empty()) throw std::runtime_error("no programs beside " + libexec_folder());
  return all;
}

std::vector<SharingProgram> random_programs(bool tiny, int count, unsigned seed) {
  auto const all = sharing_programs(tiny);
  std::mt19937 random(seed);
  std::vector<SharingProgram> chosen;
  for (int i = 0; i < count; ++i) chosen.push_back(all[random() % all.size()]);
  return chosen;
}

}  // namespace bench
