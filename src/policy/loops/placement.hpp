// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placement: which domain gets which page?

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nigh/placement.hpp>
#include <nigh/topology.hpp>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

// The domains that take part in a rule, in the order in which they take turns; none for first
// touch. The rule's domain must exist.
inline std::vector<int> placement_domains(placement rule, topology const& machine) {
  using kind = placement::kind;
  if (rule.how() == kind::first_touch) return {};
  if (rule.how() == kind::bind) {
    int const source = machine.nearest_memory(rule.domain());
    return {source < 0 ? rule.domain() : source};
  }
  std::vector<int> turns;
  auto const take = [&](bool also_without_cpus) {
    for (domain const& d : machine.domains())
      if (d.memory_bytes > 0 && (also_without_cpus || !d.cpus.empty())) turns.push_back(d.index);
  };
  take(false);
  if (turns.empty()) take(true);  // no memory is near any cpu
  if (turns.empty()) turns.push_back(0);
  if (rule.how() == kind::interleave) {  // the kernel's own order
    auto const os_node = [&](int d) {
      return machine.domains()[static_cast<std::size_t>(d)].os_node;
    };
    std::sort(turns.begin(), turns.end(), [&](int a, int b) { return os_node(a) < os_node(b); });
  }
  return turns;
}

// Pages that follow each other in one domain.
struct PlacedRun {
  std::size_t offset = 0;  // bytes from the array's begin, a multiple of the page size
  std::size_t bytes = 0;   // whole pages
  int domain = -1;

  bool operator==(PlacedRun const&) const = default;
};

// A rule applied to one array. Every rule cuts the array into pieces and deals them out to the
// domains in turn: bind makes one piece, blocked one for each domain, interleave one for each page,
// cyclic as many as it was told. A page belongs with the piece that holds its first byte.
//
// Blocks of `blocked` hold whole granules; the first ones hold one more when the division leaves a
// rest, as in OpenMP's schedule(static). They are shares of domains, not of threads: 60 granules
// over 4 domains make 15 each, where 8 threads, two to a domain, would take 16, 16, 14 and 14.
class PlacementMap {
 public:
  PlacementMap() = default;

  // Bytes (element_bytes * count) must fit in half the address space; page_bytes is a power of two.
  PlacementMap(placement rule, std::size_t element_bytes, std::size_t count, std::size_t page_bytes,
               std::vector<int> domains)
      : domains_(std::move(domains)), bytes_(element_bytes * count), page_bytes_(page_bytes) {
    using kind = placement::kind;
    NIGH_ASSERT(page_bytes > 0 && (page_bytes & (page_bytes - 1)) == 0, "pages are powers of two");
    NIGH_ASSERT(count == 0 || element_bytes <= most_bytes / count, "the caller checked the size");
    NIGH_ASSERT(rule.how() == kind::first_touch || !domains_.empty(), "somebody takes the pages");
    if (bytes_ == 0) return;
    std::size_t const granule = std::clamp<std::size_t>(rule.granule(), 1, count);
    if (rule.how() == kind::interleave) large_bytes_ = page_bytes;
    if (rule.how() == kind::cyclic) large_bytes_ = granule * element_bytes;
    if (rule.how() == kind::blocked) {
      std::size_t const granules = count / granule + (count % granule != 0);
      std::size_t const share = granules / domains_.size();
      large_pieces_ = granules % domains_.size();
      large_bytes_ = (share + 1) * granule * element_bytes;
      small_bytes_ = std::max<std::size_t>(share, 1) * granule * element_bytes;
    }
  }

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t page_bytes() const noexcept { return page_bytes_; }
  std::size_t mapped_bytes() const noexcept { return page_border_from(bytes_); }
  std::vector<int> const& domains() const noexcept { return domains_; }

  // The domain of the page with this byte of the array; -1 for first touch.
  int domain_of(std::size_t byte) const noexcept {
    if (domains_.empty()) return -1;
    std::size_t const piece = piece_of(byte & ~(page_bytes_ - 1));
    return domains_[piece < domains_.size() ? piece : piece % domains_.size()];
  }

  // The run that begins with the page at `offset`; as long as it can be.
  PlacedRun run_from(std::size_t offset) const noexcept {
    int const domain = domain_of(offset);
    std::size_t end = domains_.size() > 1 ? offset : mapped_bytes();
    while (end < bytes_ && domain_of(end) == domain) end = page_border_from(piece_end(end));
    return {offset, std::min(end, mapped_bytes()) - offset, domain};
  }

  // How many runs there are; stops counting beyond `limit`.
  std::size_t runs(std::size_t limit) const noexcept {
    std::size_t n = 0;
    for (std::size_t at = 0; at < bytes_ && n <= limit; ++n) at += run_from(at).bytes;
    return n;
  }

 private:
  static constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;

  std::size_t page_border_from(std::size_t byte) const noexcept {
    return (byte + page_bytes_ - 1) & ~(page_bytes_ - 1);
  }
  std::size_t piece_of(std::size_t byte) const noexcept {
    std::size_t const border = small_bytes_ == 0 ? bytes_ : large_pieces_ * large_bytes_;
    return byte < border ? byte / large_bytes_ : large_pieces_ + (byte - border) / small_bytes_;
  }
  std::size_t piece_end(std::size_t byte) const noexcept {
    std::size_t const piece = piece_of(byte);
    if (small_bytes_ == 0 || piece < large_pieces_) return (piece + 1) * large_bytes_;
    return large_pieces_ * large_bytes_ + (piece - large_pieces_ + 1) * small_bytes_;
  }

  // large_pieces_ pieces of large_bytes_, then pieces of small_bytes_; all large when that is 0.
  std::vector<int> domains_;
  std::size_t bytes_ = 0;
  std::size_t page_bytes_ = 1;
  std::size_t large_bytes_ = most_bytes;
  std::size_t large_pieces_ = 0;
  std::size_t small_bytes_ = 0;
};

}  // namespace nigh::policy
