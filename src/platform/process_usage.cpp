// SPDX-License-Identifier: Apache-2.0
#include "platform/process_usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "platform/answering_child.hpp"
#include "platform/process_stat.hpp"
#include "platform/whole_file.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

std::optional<int> number_named(fs::path const& entry) {
  auto const name = entry.filename().string();
  int n = 0;
  auto const [end, failed] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (failed != std::errc{} || end != name.data() + name.size()) return {};
  return n;
}

std::vector<int> numbered_entries(fs::path const& folder) {
  std::vector<int> numbers;
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone))
    if (auto const n = number_named(at->path())) numbers.push_back(*n);
  return numbers;
}

// The number behind the colon of the line that starts with `key`.
std::optional<std::uint64_t> counted(std::string const& text, std::string_view key) {
  auto const at = text.find(key);
  if (at == text.npos) return {};
  auto const colon = text.find(':', at);
  if (colon == text.npos) return {};
  return std::strtoull(text.c_str() + colon + 1, nullptr, 10);
}

std::uint64_t busy_ns(fs::path const& task, ProcessStat const& stat) {
  std::istringstream in(text_of(task / "schedstat"));
  std::uint64_t ns = 0;
  if (in >> ns) return ns;
  static auto const tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  constexpr std::size_t utime = 14, stime = 15;
  return static_cast<std::uint64_t>(
      (stat.number(utime).value_or(0) + stat.number(stime).value_or(0)) * tick_ns);
}

bool is_memory(std::string const& mapping) {
  auto const file = mapping.find("file=");
  if (file == mapping.npos) return true;
  auto const name = std::string_view(mapping).substr(file + 5);
  for (auto const* shared : {"/dev/shm/", "/dev/zero", "/memfd:", "/SYSV", "/anon_hugepage"})
    if (name.starts_with(shared)) return true;
  return false;
}

}  // namespace

std::vector<int> process_tree(int root, fs::path const& proc) {
  std::vector<std::pair<int, int>> parents;  // (process, its parent)
  constexpr std::size_t parent = 4;
  for (int const process : numbered_entries(proc))
    if (auto const stat = read_stat(proc / std::to_string(process) / "stat"))
      parents.emplace_back(process, static_cast<int>(stat->number(parent).value_or(-1)));
  std::vector<int> tree;
  for (auto const& [process, above] : parents)
    if (process == root) tree.push_back(root);
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (auto const& [process, above] : parents)
      if (above == tree[i] && process != root) tree.push_back(process);
  return tree;
}

std::vector<ThreadSample> threads_of(int process, fs::path const& proc) {
  auto const tasks = proc / std::to_string(process) / "task";
  std::vector<ThreadSample> threads;
  auto numbers = numbered_entries(tasks);
  std::sort(numbers.begin(), numbers.end());
  for (int const thread : numbers) {
    auto const task = tasks / std::to_string(thread);
    auto const stat = read_stat(task / "stat");
    if (!stat) continue;
    constexpr std::size_t processor = 39;
    threads.push_back({process, thread, stat->name,
                       static_cast<int>(stat->number(processor).value_or(-1)), busy_ns(task, *stat),
                       counted(text_of(task / "sched"), "se.nr_migrations")});
  }
  return threads;
}

std::vector<fs::path> mapped_code(int process, fs::path const& proc) {
  std::ifstream in(proc / std::to_string(process) / "maps");
  std::vector<fs::path> files;
  for (std::string line; std::getline(in, line);) {
    // 7f0c-7f0d r-xp 00001000 08:01 1234    /usr/lib/libm.so.6
    std::istringstream words(line);
    std::string range, permissions, offset, device, inode, file;
    words >> range >> permissions >> offset >> device >> inode >> std::ws;
    if (!std::getline(words, file) || file[0] != '/' || permissions.find('x') == file.npos)
      continue;
    if (std::find(files.begin(), files.end(), file) == files.end()) files.emplace_back(file);
  }
  return files;
}

bool is_own_process(int process) {
  auto const user = user_of(process);
  return user && user->is_us;
}

std::optional<std::map<int, std::uint64_t>> bytes_by_node(int process, fs::path const& proc) {
  std::ifstream in(proc / std::to_string(process) / "numa_maps");
  if (!in) return {};
  std::map<int, std::uint64_t> bytes;
  for (std::string line; std::getline(in, line);) {
    if (!is_memory(line)) continue;
    std::map<int, std::uint64_t> pages;
    std::uint64_t page_kib = 4;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      constexpr std::string_view size = "kernelpagesize_kB=";
      if (word.starts_with(size)) page_kib = std::strtoull(word.c_str() + size.size(), nullptr, 10);
      auto const equals = word.find('=');
      if (word[0] != 'N' || equals == word.npos || equals < 2) continue;
      int node = 0;
      auto const [end, failed] = std::from_chars(word.data() + 1, word.data() + equals, node);
      if (failed == std::errc{} && end == word.data() + equals)
        pages[node] += std::strtoull(word.c_str() + equals + 1, nullptr, 10);
    }
    for (auto const& [node, n] : pages) bytes[node] += n * page_kib * 1024;
  }
  return bytes;
}

std::uint64_t most_bytes_resident() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // in KiB
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace nigh::platform
