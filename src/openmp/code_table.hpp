// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts about places in the program's code, by address, which each thread finds without a lock.
//
//   CodeTable<Facts, 4096> table;
//   table.find(code, age, facts)   false: nothing of that age is known
//   table.add(code, facts, age)    may be lost: where another thread is adding
//
// Facts can be copied byte by byte. Open addressing; entries are only ever added or renewed. A
// table that is half full is replaced by a larger copy, and stays, for threads that read it.
//
// (code_table.A) `age` is stored last: a thread that finds it current sees all of the facts that
//     were stored before it. An entry changes only when its age is another. A thread that still
//     asks for the earlier age runs code that was not closed, of which the facts are the same.

#include <stdlib.h>
#include <string.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/atomic.hpp"
#include "base/published.hpp"
#include "base/try_lock.hpp"

namespace nigh::openmp {

template <class Facts, std::size_t first_size>
class CodeTable {
  static_assert(std::is_trivially_copyable_v<Facts>);

 public:
  bool find(std::uintptr_t code, std::uint32_t age, Facts& facts) noexcept {
    Table const known = now();
    for (std::size_t probe = 0; probe < longest_probe; ++probe) {
      Entry const& e = known.at(code, probe);
      auto const there = e.code.load(sync::relaxed);
      if (there == 0) break;
      if (there != code) continue;
      if (e.age.load(sync::acquire) != age) break;  // (code_table.A)
      read(e, facts);
      return true;
    }
    return false;
  }

  void add(std::uintptr_t code, Facts const& facts, std::uint32_t age) noexcept {
    if (!adding_.try_lock()) return;
    if (2 * used_ >= now().size) grow(age);
    put(now(), code, facts, age);
    adding_.unlock();
  }

  // In the child of a fork: another thread of the parent may have been adding.
  void unlock() noexcept { adding_.reset(); }

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t words = (sizeof(Facts) + sizeof(Word) - 1) / sizeof(Word);
  static constexpr std::size_t largest_size = std::size_t{1} << 24U;  // as many bits as a hash has
  static constexpr std::size_t longest_probe = 64;

  struct Entry {
    sync::atomic<std::uintptr_t> code{0};
    std::array<sync::atomic<Word>, words> facts{};
    sync::atomic<std::uint32_t> age{0};
  };

  struct Table {
    Entry& at(std::uintptr_t code, std::size_t probe) const noexcept {
      auto const hash = ((code ^ code >> 32U) * 0x9e3779b97f4a7c15U) >> 40U;
      return entries[(static_cast<std::size_t>(hash) + probe) & (size - 1)];
    }

    Entry* entries;
    std::size_t size;  // a power of two
  };

  Table now() noexcept {
    Table const* const larger = larger_.get();
    return larger == nullptr ? Table{first_.data(), first_size} : *larger;
  }

  static void read(Entry const& e, Facts& facts) noexcept {
    std::array<Word, words> copy;
    for (std::size_t i = 0; i < words; ++i) copy[i] = e.facts[i].load(sync::relaxed);
    memcpy(static_cast<void*>(&facts), copy.data(), sizeof facts);
  }

  // Under the lock, as all that follows.
  void put(Table to, std::uintptr_t code, Facts const& facts, std::uint32_t age) noexcept {
    for (std::size_t probe = 0; probe < longest_probe; ++probe) {
      Entry& e = to.at(code, probe);
      auto const there = e.code.load(sync::relaxed);
      if (there != 0 && there != code) continue;
      if (there == 0) ++used_;
      std::array<Word, words> copy{};
      memcpy(copy.data(), &facts, sizeof facts);
      for (std::size_t i = 0; i < words; ++i) e.facts[i].store(copy[i], sync::relaxed);
      e.code.store(code, sync::relaxed);
      e.age.store(age, sync::release);  // (code_table.A)
      break;
    }
  }

  // Where there is no room, what is beyond the table is looked up each time.
  void grow(std::uint32_t age) noexcept {
    Table const full = now();
    auto const size = 4 * full.size;
    if (size > largest_size) return;
    void* const room = malloc(sizeof(Table) + size * sizeof(Entry));
    if (room == nullptr) return;
    static_assert(sizeof(Table) % alignof(Entry) == 0);
    auto* const first = reinterpret_cast<Entry*>(static_cast<Table*>(room) + 1);
    for (std::size_t i = 0; i < size; ++i) new (&first[i]) Entry;
    auto* const larger = new (room) Table{first, size};
    used_ = 0;
    for (std::size_t i = 0; i < full.size; ++i) {
      Entry const& e = full.entries[i];
      auto const code = e.code.load(sync::relaxed);
      if (code == 0 || e.age.load(sync::relaxed) != age) continue;
      Facts facts;
      read(e, facts);
      put(*larger, code, facts, age);
    }
    larger_.set(larger);
  }

  std::array<Entry, first_size> first_{};
  base::Published<Table> larger_;
  std::size_t used_ = 0;  // of the largest table; under the lock
  base::TryLock adding_;
};

}  // namespace nigh::openmp
