// SPDX-License-Identifier: Apache-2.0
#include "memory/address_table.hpp"

#include <array>
#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Shared {
  using Table = memory::AddressTable<Plain>;

  explicit Shared(std::size_t capacity) : table(capacity) {}

  // Record i covers [10 i, 10 i + 5).
  void insert(std::size_t i) {
    records[i].set(static_cast<int>(i));
    table.insert(10 * i, 10 * i + 5, &records[i]);
  }
  void erase(std::size_t i) { table.erase(10 * i); }

  // A record whose range is in the table all the time is found, or the reader told to ask again.
  void expect(std::size_t i) {
    auto const answer = table.find(10 * i + 2);
    if (answer.outcome == Table::Lookup::disturbed) return;
    check(answer.record == &records[i], "what stays is found");
    check(answer.record->get() == static_cast<int>(i), "and holds what was written");
  }

  Table table;
  std::array<Plain, 5> records;
};

// Slots shift under the reader, to the right and to the left.
Scenario shifts() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>(4);
    s->insert(2);
    s->insert(3);
    run.threads = {[s] {
                     s->insert(1);
                     s->erase(1);
                   },
                   [s] { s->expect(2); }};
  };
}

// The table is replaced under the reader, which need not wait for the one or the other.
Scenario grows() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>(1);
    s->insert(2);
    run.threads = {[s] { s->insert(3); }, [s] { s->expect(2); }};
  };
}

// A reader that comes upon a new record may look into it.
Scenario appears() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>(2);
    run.threads = {[s] { s->insert(1); },
                   [s] {
                     auto const answer = s->table.find(12);
                     if (answer.outcome != Shared::Table::Lookup::found) return;
                     check(answer.record->get() == 1, "a record is written before it is found");
                   }};
  };
}

Bounds const wide{.preemptions = 3, .stale_reads = 3};

TEST(AddressTableModel, WhatStaysIsFoundWhileOthersComeAndGo) { expect_holds(shifts(), wide); }
TEST(AddressTableModel, WhatStaysIsFoundWhileTheTableGrows) { expect_holds(grows(), wide); }
TEST(AddressTableModel, ARecordIsWrittenBeforeItIsFound) { expect_holds(appears(), wide); }

TEST(AddressTableModel, SlotsNeedTheirOrder) {
  expect_needed("address_table.A", Order::relaxed, shifts());
  expect_needed("address_table.A", Order::relaxed, appears());
}
TEST(AddressTableModel, TheVersionNeedsItsOrder) { expect_needed("address_table.B", Order::relaxed, shifts()); }
TEST(AddressTableModel, TheTableNeedsItsOrder) { expect_needed("address_table.C", Order::relaxed, grows()); }

}  // namespace
}  // namespace nigh::model
