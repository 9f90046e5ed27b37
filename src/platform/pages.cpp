// SPDX-License-Identifier: Apache-2.0
#include "platform/pages.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "platform/refused.hpp"

namespace nigh::platform {
namespace {

std::uintptr_t address_of(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

bool numa_balancing_is_on() {
  int on = 0;
  std::ifstream("/proc/sys/kernel/numa_balancing") >> on;
  return on != 0;
}

// While it lives, page faults of this thread move no page: automatic balancing leaves a thread
// alone that has a memory policy of its own, even if the policy only says "locally".
class Spectator {
 public:
  Spectator() noexcept {
    if (::syscall(SYS_get_mempolicy, &mode_, nodes_.data(), node_bits, nullptr, 0) == 0)
      is_one_ = ::syscall(SYS_set_mempolicy, MPOL_LOCAL, nullptr, 0) == 0;
  }
  ~Spectator() {
    if (is_one_) ::syscall(SYS_set_mempolicy, mode_, nodes_.data(), node_bits);
  }
  Spectator(Spectator&&) = delete;
  Spectator& operator=(Spectator&&) = delete;

  bool is_one() const noexcept { return is_one_; }

 private:
  static constexpr std::size_t word_bits = 8 * sizeof(unsigned long);
  static constexpr std::size_t node_bits = 1024 + word_bits;  // more than any kernel's nodes

  int mode_ = MPOL_DEFAULT;
  std::array<unsigned long, node_bits / word_bits> nodes_{};
  bool is_one_ = false;
};

// With automatic NUMA balancing the kernel unmaps pages now and then, to see who uses them next.
// move_pages takes these for absent; mincore does not. get_mempolicy tells their node, but touches
// the page for that, as the calling thread would.
int node_of_hinted_page(void* page) noexcept {
  unsigned char resident = 0;
  if (::mincore(page, 1, &resident) != 0 || (resident & 1) == 0) return no_page;
  int node = unknown_page;
  if (::syscall(SYS_get_mempolicy, &node, nullptr, 0, page, MPOL_F_NODE | MPOL_F_ADDR) != 0)
    return unknown_page;
  return node;
}

}  // namespace

std::size_t page_bytes() noexcept {
  static auto const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t huge_page_bytes() noexcept {
  static std::size_t const bytes = [] {
    std::string choice;
    std::ifstream enabled("/sys/kernel/mm/transparent_hugepage/enabled");
    std::getline(enabled, choice);  // "always [madvise] never"
    std::size_t size = 0;
    std::ifstream("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") >> size;
    return choice.empty() || choice.find("[never]") != choice.npos ? std::size_t{0} : size;
  }();
  return bytes;
}

result<std::byte*> map_pages(std::size_t bytes, std::size_t alignment) {
  NIGH_ASSERT(alignment > 0 && alignment % page_bytes() == 0, "pages are aligned to pages");
  std::size_t const slack = alignment - page_bytes();
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() - slack - page_bytes())
    return refused("mmap", bytes == 0 ? EINVAL : ENOMEM);
  bytes = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  void* const whole =
      ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) return refused("mmap", errno);
  auto* const begin = static_cast<std::byte*>(whole);
  std::size_t const before = (alignment - address_of(begin) % alignment) % alignment;
  if (before > 0) ::munmap(begin, before);
  if (slack > before) ::munmap(begin + before + bytes, slack - before);
  return begin + before;
}

void unmap_pages(std::byte* p, std::size_t bytes) noexcept {
  if (p != nullptr) ::munmap(p, bytes);
}

void advise(std::byte* p, std::size_t bytes, huge_pages advice) noexcept {
  ::madvise(p, bytes, advice == huge_pages::wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

result<std::vector<int>> nodes_of_pages(std::span<std::byte const* const> addresses) {
  std::vector<void*> pages;
  pages.reserve(addresses.size());
  for (std::byte const* a : addresses)
    pages.push_back(reinterpret_cast<void*>(address_of(a) & ~(page_bytes() - 1)));
  std::vector<int> nodes(pages.size(), unknown_page);
  if (::syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) < 0)
    return refused("move_pages", errno);
  // EFAULT: nothing mapped there, or the zero page that a read of untouched memory gets.
  bool const some_absent = std::find(nodes.begin(), nodes.end(), -ENOENT) != nodes.end();
  std::optional<Spectator> spectator;
  if (some_absent && numa_balancing_is_on()) spectator.emplace();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] == -ENOENT && spectator)
      nodes[i] = spectator->is_one() ? node_of_hinted_page(pages[i]) : unknown_page;
    else if (nodes[i] == -ENOENT || nodes[i] == -EFAULT)
      nodes[i] = no_page;
    else if (nodes[i] < 0)
      nodes[i] = unknown_page;
  }
  return nodes;
}

}  // namespace nigh::platform
