// SPDX-License-Identifier: Apache-2.0
#include "loops/spread_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <utility>

namespace nigh::loops {
namespace {

// Text that is read from the front.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  bool skip(std::string_view what) {
    if (!left_.starts_with(what)) return false;
    left_.remove_prefix(what.size());
    return true;
  }
  // Up to the next quote.
  bool read(std::string& to) {
    auto const end = left_.find('"');
    if (end == left_.npos || !is_site_name(left_.substr(0, end))) return false;
    to = left_.substr(0, end);
    left_.remove_prefix(end);
    return true;
  }
  template <class Number>
  bool read(Number& to) {
    auto const [end, failed] = std::from_chars(left_.data(), left_.data() + left_.size(), to);
    if (failed != std::errc() || to < 0) return false;
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return true;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

std::mutex turn;  // this process's threads', for the file

char const* file_name() noexcept {
  char const* const name = std::getenv("NIGH_SPREADS");
  return name != nullptr && *name != '\0' ? name : nullptr;
}

// An error is said once, not by each site. Under `turn`.
void say(std::string const& why) {
  static std::string said;
  auto line = std::string(file_name()) + ' ' + why;
  if (line == said) return;
  std::fprintf(stderr, "nigh: NIGH_SPREADS: %s\n", line.c_str());
  said = std::move(line);
}

// One that is not there is empty.
std::optional<SpreadFile> read_file(std::string const& machine) {
  std::error_code failed;
  if (!std::filesystem::exists(file_name(), failed)) return SpreadFile{machine};
  std::ifstream in(file_name(), std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad() || std::filesystem::is_directory(file_name(), failed)) {
    say("cannot be read");
    return {};
  }
  auto file = parse_spreads(text);
  if (!file) {
    say(file.message());
    return {};
  }
  if (file->machine != machine) {
    say("is for another machine, and not used: " + file->machine + ", this one is " + machine);
    return {};
  }
  return std::move(file).value();
}

}  // namespace

bool is_site_name(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\' && c != '\x7f';
  });
}

std::string shape_of(topology const& machine) {
  std::string shape;
  auto const add = [&](char const* what, std::size_t n) {
    shape += (shape.empty() ? "" : " ") + std::string(what) + ':' + std::to_string(n);
  };
  add("package", machine.groups(level::package).size());
  add("domain", static_cast<std::size_t>(machine.cpu_domains()));
  add("l3", machine.groups(level::l3).size());
  add("core", static_cast<std::size_t>(machine.cores()));
  add("cpu", machine.cpus().size());
  return shape;
}

std::string text_of(SpreadFile const& file) {
  std::string text = R"({"nigh_spreads": 1, "machine": ")" + file.machine + R"(", "sites": [)";
  for (auto const& site : file.sites) {
    std::array<char, 32> seconds;
    auto const end =
        std::to_chars(seconds.data(), seconds.data() + seconds.size(), site.found.seconds);
    auto const& held = site.found.held;
    text += &site == file.sites.data() ? "\n" : ",\n";
    text += R"({"name": ")" + site.name + R"(", "workers": )" + std::to_string(site.workers) +
            R"(, "spread": )" + std::to_string(held.spread) + R"(, "active": )" +
            std::to_string(held.active) + R"(, "grain": )" + std::to_string(held.grain) +
            R"(, "seconds": )" + std::string(seconds.data(), end.ptr) + '}';
  }
  return text + "\n]}\n";
}

result<SpreadFile> parse_spreads(std::string_view text) {
  Reader in(text);
  SpreadFile file;
  int version = 0;
  if (!in.skip(R"({"nigh_spreads": )") || !in.read(version))
    return error{"is no file of spreads, and not used"};
  if (version != 1)
    return error{"is of version " + std::to_string(version) + ", and not used: this nigh reads 1"};
  auto const damaged = [] { return error{"is damaged, and not used"}; };
  if (!in.skip(R"(, "machine": ")") || !in.read(file.machine) || !in.skip(R"(", "sites": [)"))
    return damaged();
  while (!in.skip("\n]}\n")) {
    if (!file.sites.empty() && !in.skip(",")) return damaged();
    SpreadLine site;
    auto& held = site.found.held;
    bool const whole = in.skip("\n{\"name\": \"") && in.read(site.name) &&
                       in.skip(R"(", "workers": )") && in.read(site.workers) &&
                       in.skip(R"(, "spread": )") && in.read(held.spread) &&
                       in.skip(R"(, "active": )") && in.read(held.active) &&
                       in.skip(R"(, "grain": )") && in.read(held.grain) &&
                       in.skip(R"(, "seconds": )") && in.read(site.found.seconds) && in.skip("}");
    if (!whole) return damaged();
    file.sites.push_back(std::move(site));
  }
  if (!in.at_end()) return damaged();
  return file;
}

std::optional<policy::SpreadState> read_spread(topology const& machine, std::string const& name,
                                               int workers) {
  if (name.empty() || file_name() == nullptr) return {};
  std::lock_guard const guard(turn);
  auto const file = read_file(shape_of(machine));
  if (!file) return {};
  for (auto const& site : file->sites)
    if (site.name == name && site.workers == workers) return site.found;
  return {};
}

// To a file of its own first: whoever reads it meanwhile, or when the system fails, has a whole
// one.
void write_spread(std::string const& machine, SpreadLine line) {
  if (line.name.empty() || file_name() == nullptr) return;
  std::lock_guard const guard(turn);
  auto file = read_file(machine);
  if (!file) return;
  std::erase_if(file->sites, [&](SpreadLine const& other) {
    return other.name == line.name && other.workers == line.workers;
  });
  file->sites.push_back(std::move(line));
  std::filesystem::path const beside =
      std::string(file_name()) + '.' + std::to_string(std::random_device()());
  std::ofstream out(beside, std::ios::binary);
  out << text_of(*file);
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(beside, file_name(), failed);
  if (out && !failed) return;
  std::filesystem::remove(beside, failed);
  say("cannot be written");
}

}  // namespace nigh::loops
