// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays whose pages lie where a placement says.

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <nigh/detail/export.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/placement.hpp>
#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {

struct array_options {
  topology const* machine = nullptr;  // of these domains; null: this_host(). Must outlive the array
  // Ask for transparent huge pages, and place in units of them. A refusal is no error: on a system
  // without any, the unit is the small page.
  bool huge_pages = false;
};

// Where the pages of some memory lie, by the kernel's word.
struct page_report {
  std::vector<std::size_t> pages_of_domain;  // [domain]
  std::size_t pages = 0;                     // in the range asked about
  std::size_t untouched = 0;                 // no page there yet
  std::size_t elsewhere = 0;                 // on a NUMA node that is no domain of the topology
  std::size_t misplaced = 0;                 // in a domain other than the placement's rule says
  std::size_t page_bytes = 0;  // the size of counted pages: small ones, even inside huge pages
  std::string note;  // a fallback that was taken ("mbind refused: ..."), or why the kernel would
                     // not tell; else empty
};

namespace detail {

struct placed_record;

// Untyped memory with a placement. Pages are zero.
class NIGH_API placed_block {
 public:
  placed_block() noexcept;
  placed_block(std::size_t count, std::size_t element_bytes, placement rule, array_options options);
  ~placed_block();
  placed_block(placed_block&& other) noexcept;
  placed_block& operator=(placed_block&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  placement rule() const noexcept { return rule_; }
  int domain_of(std::size_t byte) const noexcept;
  page_report report() const;
  std::string const& note() const noexcept;
  placed_record const* record() const noexcept { return record_.get(); }  // null: nothing is known

 private:
  void release() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  placement rule_ = placement::first_touch();
  owned<placed_record> record_;  // none in a default-constructed or moved-from block
};

}  // namespace detail

// A fixed-size array of zeroed elements, its pages spread over the machine's domains by a
// placement. Movable, not copyable. Meant for sizes of many GiB; the smallest unit that can be
// placed is one page (4 KiB, or 2 MiB with huge pages), so a page that two pieces share lies with
// the piece that holds its first byte.
//
// A bound page appears in its domain when any thread first uses it; if the domain is full, it goes
// to the nearest one with room. On a host with one domain nothing is bound. Where the kernel
// refuses (no permission, no NUMA support, more than 8192 pieces), threads in the wanted domains
// first touch the pages, in the constructor; report().note says so. On the topology of another
// machine the rules still answer domain_of(), and memory is left alone.
//
// Throws std::length_error when count * sizeof(T) overflows, std::invalid_argument for a placement
// that names an absent domain or a piece of zero elements, and std::bad_alloc (whose message names
// the bytes asked for and available) when there is no memory. That is known before the kernel has
// to kill a process: available memory must suffice for this array and for all untouched pages of
// others.
template <class T>
class array {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>,
                "elements start as zero bytes and are dropped without a destructor");

 public:
  using value_type = T;

  array() = default;
  explicit array(std::size_t count, placement rule = placement::first_touch(),
                 array_options options = {})
      : block_(count, sizeof(T), rule, options), size_(count) {}
  array(array&& other) noexcept
      : block_(std::move(other.block_)), size_(std::exchange(other.size_, 0)) {}
  array& operator=(array&& other) noexcept {
    block_ = std::move(other.block_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() noexcept { return reinterpret_cast<T*>(block_.data()); }
  T const* data() const noexcept { return reinterpret_cast<T const*>(block_.data()); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  T const& operator[](std::size_t i) const noexcept { return data()[i]; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  T const* begin() const noexcept { return data(); }
  T const* end() const noexcept { return data() + size_; }

  placement rule() const noexcept { return block_.rule(); }
  detail::placed_block const& placed() const noexcept { return block_; }
  // The domain of element i's page by the placement's rule, without asking the kernel; -1 for first
  // touch, where only the kernel knows.
  int domain_of(std::size_t i) const noexcept { return block_.domain_of(i * sizeof(T)); }
  // Pages per domain, by the kernel's word.
  page_report report() const { return block_.report(); }

 private:
  detail::placed_block block_;
  std::size_t size_ = 0;
};

template <class T>
page_report placement_report(array<T> const& a) {
  return a.report();
}

// The domain that holds the memory at p: by rule when p lies in a nigh::array with a rule,
// otherwise by the kernel's word. -1 when the page has not been touched or the kernel will not say;
// on a host with one domain the kernel is not asked. Safe from any thread, and quick for arrays
// with a rule (no lock, no system call); an array must not be destroyed while its pointers are
// asked about. The domain is one of the array's own topology, for other memory of this_host(); or
// of `machine`, by Linux's numbers, when that is another view of the same machine.
NIGH_API int domain_of(void const* p);
NIGH_API int domain_of(void const* p, topology const& machine);

// Moves the pages that hold [range.begin, range.end) to a domain, and waits for it. Pages not yet
// touched will appear there. The rule of an array they belong to does not change. A huge page that
// crosses a border of the range moves as a whole. An error when the kernel refuses, or moved only a
// part (the message says how much).
NIGH_API result<void> migrate_bytes(std::span<std::byte const> range, int domain,
                                    topology const& machine);

template <class T>
result<void> migrate(std::span<T> range, int domain, topology const& machine = this_host()) {
  return migrate_bytes(std::as_bytes(range), domain, machine);
}

}  // namespace nigh
