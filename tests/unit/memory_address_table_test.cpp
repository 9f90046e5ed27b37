// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <nigh/array.hpp>
#include <random>
#include <thread>
#include <vector>

#include "memory/address_table.hpp"
#include "memory/live_arrays.hpp"

namespace {

using Table = nigh::memory::AddressTable<int>;

int const* found(Table const& t, std::uintptr_t address) {
  auto const answer = t.find(address);
  EXPECT_NE(answer.outcome, Table::Lookup::disturbed);
  EXPECT_EQ(answer.outcome == Table::Lookup::found, answer.record != nullptr);
  return answer.record;
}

TEST(AddressTable, AgreesWithAMapThroughGrowthAndErasure) {
  std::mt19937 random(1);
  Table table(1);
  std::vector<int> records(1000);
  std::map<std::uintptr_t, std::uintptr_t> ranges;  // begin -> end, multiples of 10
  for (int step = 0; step < 20'000; ++step) {
    std::uintptr_t const slot = random() % records.size(), begin = 10 * slot;
    if (ranges.erase(begin) > 0) {
      table.erase(begin);
    } else {
      ranges[begin] = begin + 1 + random() % 10;
      table.insert(begin, ranges[begin], &records[slot]);
    }
    std::uintptr_t const asked = random() % (10 * records.size() + 5);
    auto const at = ranges.upper_bound(asked);
    bool const inside = at != ranges.begin() && asked < std::prev(at)->second;
    ASSERT_EQ(found(table, asked), inside ? &records[asked / 10] : nullptr);
  }
}

// Readers ask about ranges that stay while others come and go on both sides of them and the table
// grows: whatever they are told must be true. ThreadSanitizer watches the records, too.
TEST(AddressTable, ReadersSeeWhatStaysWhileOthersComeAndGo) {
  Table table(2);
  std::vector<int> records(400);
  auto const begin_of = [](std::size_t i) { return std::uintptr_t{16} * i; };
  for (std::size_t i = 1; i < records.size(); i += 40) {
    records[i] = static_cast<int>(i);
    table.insert(begin_of(i), begin_of(i) + 16, &records[i]);
  }
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, answers{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r)
    readers.emplace_back([&] {
      while (!stop.load())
        for (std::size_t i = 1; i < records.size(); i += 40) {
          auto const answer = table.find(begin_of(i) + 7);
          if (answer.outcome == Table::Lookup::disturbed) continue;
          answers.fetch_add(1);
          if (answer.record != &records[i] || *answer.record != static_cast<int>(i))
            wrong.fetch_add(1);
        }
    });
  std::mt19937 random(2);
  std::vector<bool> in(records.size());
  for (int step = 0; step < 20'000 || answers.load() < 1000; ++step) {
    std::size_t const i = random() % records.size();
    if (i % 40 == 1) continue;
    if (in[i]) {
      table.erase(begin_of(i));
    } else {
      records[i] = static_cast<int>(i);
      table.insert(begin_of(i), begin_of(i) + 16, &records[i]);
    }
    in[i] = !in[i];
  }
  stop.store(true);
  for (auto& r : readers) r.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(LiveArrays, AnswersWhileArraysComeAndGo) {
  auto const machine = nigh::topology::from_synthetic("pack:4 numa:1 core:1 pu:1").value();
  nigh::array_options const there{.machine = &machine};
  nigh::array<char> const stays(4 * 4096, nigh::placement::blocked(), there);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int step = 0; step < 500; ++step) {
        nigh::array<char> const own(4096, nigh::placement::bind(t), there);
        for (int d = 0; d < 4; ++d)
          if (nigh::domain_of(stays.data() + 4096 * d, machine) != d) wrong.fetch_add(1);
        if (nigh::domain_of(own.data() + 100, machine) != t) wrong.fetch_add(1);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(nigh::memory::array_at(nullptr), nullptr);
}

}  // namespace
