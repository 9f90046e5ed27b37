// SPDX-License-Identifier: Apache-2.0
// where-pages MIB [SECONDS]: touches so much memory, says how many of its pages lie on which NUMA
// node, as the kernel tells, and stays that long.

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

int main(int argc, char** argv) {
  auto const bytes = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 1) << 20;
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const map =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 1;
  madvise(map, bytes, MADV_NOHUGEPAGE);
  std::memset(map, 1, bytes);
  std::vector<void*> pages;
  for (std::size_t at = 0; at < bytes; at += page) pages.push_back(static_cast<char*>(map) + at);
  std::vector<int> nodes(pages.size(), -1);
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0)
    return 1;
  std::map<int, int> count;
  for (int const node : nodes) ++count[node];
  for (auto const& [node, n] : count) std::printf("node %d: %d\n", node, n);
  std::fflush(stdout);
  if (argc > 2) sleep(static_cast<unsigned>(std::atoi(argv[2])));
}
