// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sorted table of address ranges: one writer at a time, any number of readers that never wait
// for one another and write nothing, so that lookups from all cpus share its cache lines.
//
//   writer   insert(), erase()   one at a time (the caller's lock)
//   reader   find()              any thread
//
// It is a sequence lock: version_ is odd while the writer is at work, and a reader that saw it
// change throws away what it read.
//
// Invariant: with version_ even, the first `size` slots of the current table are sorted by begin
// and their ranges are disjoint.
// A table that became too small stays as it is until the end, for readers that still hold it; each
// table has half the slots of the next, so all old ones together have fewer than the last.
//
// (address_table.A) A reader that sees a slot or the size of an unfinished change sees its odd
//     version: the writer stores them with release, behind the odd version, and the reader loads
//     them with acquire, before it loads the version again.
// (address_table.B) A reader that sees an even version sees the change before it: the writer
//     releases the version, the reader acquires it.
// (address_table.C) A reader that sees a table sees what was copied to it.
// The same letter covers the record's contents: they are reached through the slot.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace nigh::memory {

template <class Record>
class AddressTable {
 public:
  enum class Lookup { found, absent, disturbed };  // disturbed: a writer was at work, ask again

  struct Answer {
    Lookup outcome;
    Record const* record;  // of found
  };

  explicit AddressTable(std::size_t capacity = 64) { grow_to(capacity); }

  // A record may be used as long as its range stays in the table.
  Answer find(std::uintptr_t address) const noexcept {
    auto const before = version_.load(sync::acquire);  // (address_table.B)
    if (before % 2 != 0) return {Lookup::disturbed, nullptr};
    Table const& table = *current_.load(sync::acquire);          // (address_table.C)
    std::size_t low = 0, high = table.size.load(sync::acquire);  // (address_table.A)
    // slots before low begin at or before the address, slots from high on after it
    while (low < high) {
      std::size_t const middle = low + (high - low) / 2;
      if (table.slots[middle].begin.load(sync::acquire) <= address)  // (address_table.A)
        low = middle + 1;
      else
        high = middle;
    }
    Record const* record = nullptr;
    if (low > 0 && address < table.slots[low - 1].end.load(sync::acquire))  // (address_table.A)
      record = table.slots[low - 1].record.load(sync::acquire);             // (address_table.A)
    if (version_.load(sync::relaxed) != before) return {Lookup::disturbed, nullptr};
    return {record != nullptr ? Lookup::found : Lookup::absent, record};
  }

  void insert(std::uintptr_t begin, std::uintptr_t end, Record const* record) {
    Table* table = current_.load(sync::relaxed);
    std::size_t const size = table->size.load(sync::relaxed);
    if (size == table->capacity) table = grow_to(2 * size);
    std::size_t const at = position(*table, begin);
    NIGH_ASSERT(at == 0 || table->slots[at - 1].end.load(sync::relaxed) <= begin,
                "ranges are disjoint");
    NIGH_ASSERT(at == size || end <= table->slots[at].begin.load(sync::relaxed),
                "ranges are disjoint");
    begin_change();
    for (std::size_t i = size; i > at; --i) table->slots[i].copy(table->slots[i - 1]);
    table->slots[at].set(begin, end, record);
    table->size.store(size + 1, sync::release);  // (address_table.A)
    end_change();
  }

  void erase(std::uintptr_t begin) {
    Table& table = *current_.load(sync::relaxed);
    std::size_t const size = table.size.load(sync::relaxed);
    std::size_t const at = position(table, begin);
    NIGH_ASSERT(at < size && table.slots[at].begin.load(sync::relaxed) == begin,
                "only what was inserted is erased");
    begin_change();
    for (std::size_t i = at; i + 1 < size; ++i) table.slots[i].copy(table.slots[i + 1]);
    table.size.store(size - 1, sync::release);  // (address_table.A)
    end_change();
  }

 private:
  struct Slot {
    sync::atomic<std::uintptr_t> begin{0};
    sync::atomic<std::uintptr_t> end{0};
    sync::atomic<Record const*> record{nullptr};

    void set(std::uintptr_t b, std::uintptr_t e, Record const* r) noexcept {
      begin.store(b, sync::release);   // (address_table.A)
      end.store(e, sync::release);     // (address_table.A)
      record.store(r, sync::release);  // (address_table.A)
    }
    void copy(Slot const& from) noexcept {
      set(from.begin.load(sync::relaxed), from.end.load(sync::relaxed),
          from.record.load(sync::relaxed));
    }
  };

  struct Table {
    explicit Table(std::size_t slots_wanted)
        : capacity(slots_wanted), slots(std::make_unique<Slot[]>(slots_wanted)) {}
    std::size_t capacity;
    sync::atomic<std::size_t> size{0};
    std::unique_ptr<Slot[]> slots;
  };

  // The first slot that does not begin before the address. For the writer.
  static std::size_t position(Table const& table, std::uintptr_t begin) noexcept {
    std::size_t at = table.size.load(sync::relaxed);
    while (at > 0 && table.slots[at - 1].begin.load(sync::relaxed) >= begin) --at;
    return at;
  }

  // The copy is complete before any reader can see it, so growing is no change to them.
  Table* grow_to(std::size_t capacity) {
    auto bigger = std::make_unique<Table>(capacity);
    if (!tables_.empty()) {
      Table const& old = *tables_.back();
      std::size_t const size = old.size.load(sync::relaxed);
      for (std::size_t i = 0; i < size; ++i) bigger->slots[i].copy(old.slots[i]);
      bigger->size.store(size, sync::relaxed);
    }
    tables_.push_back(std::move(bigger));
    current_.store(tables_.back().get(), sync::release);  // (address_table.C)
    return tables_.back().get();
  }

  void begin_change() noexcept {
    version_.store(version_.load(sync::relaxed) + 1, sync::relaxed);  // seen by way of a slot
  }
  void end_change() noexcept {
    version_.store(version_.load(sync::relaxed) + 1, sync::release);  // (address_table.B)
  }

  alignas(64) sync::atomic<std::uint64_t> version_{0};
  sync::atomic<Table*> current_{nullptr};
  std::vector<std::unique_ptr<Table>> tables_;  // the last one is current
};

}  // namespace nigh::memory
