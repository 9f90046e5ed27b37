// SPDX-License-Identifier: Apache-2.0
#include "platform/cpu_places.hpp"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "base/atomic.hpp"
#include "platform/small_file.hpp"

namespace nigh::platform {
namespace {

constexpr char const* files_of_the_system = "/sys/devices/system";

// A place fits a word, so that it is read in one piece: 12 bits for each cpu, 6 for the domain, and
// one that says that it has been read.
static_assert(most_cpus == 1 << 12 && most_domains == 1 << 6);
constexpr std::uint64_t is_known = std::uint64_t{1} << 63U;
constinit std::array<sync::atomic<std::uint64_t>, most_cpus> places{};

constexpr std::uint64_t pack(CpuPlace p) noexcept {
  return is_known | std::uint64_t{p.core} | std::uint64_t{p.l2} << 12U |
         std::uint64_t{p.l3} << 24U | std::uint64_t{p.package} << 36U |
         std::uint64_t{p.domain} << 48U;
}
constexpr CpuPlace unpack(std::uint64_t word) noexcept {
  auto const cpu = [word](unsigned shift) {
    return static_cast<std::uint16_t>(word >> shift & (most_cpus - 1));
  };
  return {cpu(0), cpu(12), cpu(24), cpu(36),
          static_cast<std::uint16_t>(word >> 48U & (most_domains - 1))};
}
static_assert(unpack(pack({4095, 1, 2, 3, 63})) == CpuPlace{4095, 1, 2, 3, 63});

// 0: not read yet.
using Distances = std::array<sync::atomic<std::uint8_t>, most_domains>;
constinit std::array<Distances, most_domains> distances{};

constexpr std::uint8_t near = 10, far = 20;

using Path = std::array<char, 256>;

// The lowest number in a file of this cpu; `otherwise` without the file.
std::uint16_t lowest_in(char const* root, int cpu, char const* file,
                        std::uint16_t otherwise) noexcept {
  Path path;
  std::array<char, 32> text;
  snprintf(path.data(), path.size(), "%s/cpu/cpu%d/%s", root, cpu, file);
  if (!read_small_file(path.data(), text)) return otherwise;
  char* end = nullptr;
  auto const lowest = strtoul(text.data(), &end, 10);
  return end == text.data() || lowest >= most_cpus ? otherwise : static_cast<std::uint16_t>(lowest);
}

}  // namespace

int cpu_of_thread() noexcept {
  int const cpu = sched_getcpu();
  return cpu < most_cpus ? cpu : -1;
}

CpuPlace place_of(int cpu) noexcept {
  auto& entry = places[static_cast<std::size_t>(cpu)];
  auto word = entry.load(sync::relaxed);
  if (word == 0) {
    word = pack(read_place(files_of_the_system, cpu));
    entry.store(word, sync::relaxed);
  }
  return unpack(word);
}

std::uint32_t distance_of_domains(std::uint32_t from, std::uint32_t to) noexcept {
  Distances& row = distances[from];
  if (row[to].load(sync::relaxed) == 0) {
    std::array<std::uint8_t, most_domains> read;
    read_distances(files_of_the_system, from, read);
    for (std::size_t d = 0; d < most_domains; ++d) row[d].store(read[d], sync::relaxed);
  }
  return row[to].load(sync::relaxed);
}

CpuPlace read_place(char const* root, int cpu) noexcept {
  CpuPlace p;
  p.core = lowest_in(root, cpu, "topology/thread_siblings_list", static_cast<std::uint16_t>(cpu));
  p.package = lowest_in(root, cpu, "topology/core_siblings_list", 0);
  p.l2 = p.core;
  std::uint16_t l3 = most_cpus;
  for (int index = 0; index < 8; ++index) {
    Path file;
    snprintf(file.data(), file.size(), "cache/index%d/level", index);
    auto const level = lowest_in(root, cpu, file.data(), 0);
    if (level == 0) break;
    snprintf(file.data(), file.size(), "cache/index%d/shared_cpu_list", index);
    if (level == 2) p.l2 = lowest_in(root, cpu, file.data(), p.core);
    if (level == 3) l3 = lowest_in(root, cpu, file.data(), most_cpus);
  }
  p.l3 = l3 == most_cpus ? p.l2 : l3;
  for (std::uint16_t node = 0; node < most_domains; ++node) {
    Path path;
    snprintf(path.data(), path.size(), "%s/cpu/cpu%d/node%d", root, cpu, node);
    if (access(path.data(), F_OK) != 0) continue;
    p.domain = node;
    break;
  }
  return p;
}

void read_distances(char const* root, std::uint32_t from,
                    std::span<std::uint8_t, most_domains> to) noexcept {
  for (std::size_t d = 0; d < most_domains; ++d) to[d] = d == from ? near : far;
  Path path;
  std::array<char, 512> text, online;
  snprintf(path.data(), path.size(), "%s/node/online", root);
  if (!read_small_file(path.data(), online)) return;
  snprintf(path.data(), path.size(), "%s/node/node%u/distance", root, from);
  if (!read_small_file(path.data(), text)) return;
  char const* at = text.data();
  for_each_in_list(online.data(), [&](unsigned long node) {
    char* end = nullptr;
    auto const distance = strtoul(at, &end, 10);
    if (end != at && node < most_domains && distance > 0 && distance < 256)
      to[node] = static_cast<std::uint8_t>(distance);
    at = end;
  });
}

}  // namespace nigh::platform
