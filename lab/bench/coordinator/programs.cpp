// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/programs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "bench/processes.hpp"

namespace bench {

namespace {

namespace fs = std::filesystem;

struct Size {
  char const* value;
  char const* repeat = nullptr;  // for about a second or two of one cpu; null: needs none
};

struct Entry {
  char const* file;
  char const* flag;
  Size tiny;
  std::vector<Size> sizes;  // the last is full size
  std::vector<std::string> varying = {};
};

// Those that are here.
std::vector<Entry> entries() {
  std::vector<Entry> all{
      {"gauss", "--size", {"150"}, {{"1200"}, {"1800"}, {"2400"}}},
      {"mmul", "--size", {"200"}, {{"1024"}, {"1408"}, {"1792"}}},
      {"npb-cg", "--class", {"S"}, {{"W", "6"}, {"A", "4"}}},
      {"npb-ep", "--class", {"S"}, {{"W"}, {"A"}}},
      {"npb-mg", "--class", {"S"}, {{"A"}, {"B"}}, {" Threads", " Time in seconds", " Mop/s"}},
      {"adi", "--size", {"60"}, {{"700"}, {"1100"}, {"1500"}}}};
  std::erase_if(all,
                [](Entry const& e) { return !fs::exists(fs::path(libexec_folder()) / e.file); });
  if (all.empty()) throw std::runtime_error("no programs beside " + libexec_folder());
  return all;
}

SharingProgram program(Entry const& e, Size const& size) {
  std::vector<std::string> words{fs::path(libexec_folder()) / e.file, e.flag, size.value};
  if (size.repeat != nullptr) words.insert(words.end(), {"--repeat", size.repeat});
  return {std::string(e.file) + ' ' + size.value, std::move(words), e.varying};
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

std::string nigh_command() {
  fs::path const command = (fs::path(libexec_folder()) / "../../bin/nigh").lexically_normal();
  return fs::exists(command) ? command.string() : "";
}

std::vector<SharingProgram> sharing_programs(bool tiny) {
  std::vector<SharingProgram> all;
  for (Entry const& e : entries()) all.push_back(program(e, tiny ? e.tiny : e.sizes.back()));
  return all;
}

std::vector<SharingProgram> random_programs(bool tiny, int count, unsigned seed,
                                            double mean_pause_seconds) {
  auto const all = entries();
  std::mt19937 random(seed);
  std::vector<SharingProgram> chosen;
  double now = 0;
  for (int i = 0; i < count; ++i) {
    Entry const& e = all[random() % all.size()];
    auto const nth = random() % e.sizes.size();
    chosen.push_back(program(e, tiny ? e.tiny : e.sizes[nth]));
    chosen.back().comes_seconds = now;
    // Exponential pauses: whoever comes knows nothing of the others. Not std's: libraries differ.
    auto const share = (static_cast<double>(random()) + 1) / 4294967296.0;
    now -= std::log(share) * mean_pause_seconds;
  }
  return chosen;
}

}  // namespace bench
