// SPDX-License-Identifier: Apache-2.0
#include "memory/live_arrays.hpp"

#include <mutex>

#include "memory/address_table.hpp"
#include "platform/thread.hpp"

namespace nigh::memory {
namespace {

struct LiveArrays {
  AddressTable<detail::placed_record> table;
  std::mutex changing;      // held while the table changes
  std::uint64_t bytes = 0;  // under `changing`
};

// Never destroyed: arrays with static storage may outlive any other static object. A fork waits for
// a change: the child would wait for ever for the thread that makes it.
LiveArrays& live() {
  static auto& all = []() -> LiveArrays& {
    auto& made = *new LiveArrays;
    platform::at_fork([] { live().changing.lock(); }, [] { live().changing.unlock(); },
                      [] { live().changing.unlock(); });
    return made;
  }();
  return all;
}

// When the library is loaded: those below, which cannot fail, find it.
[[maybe_unused]] auto& made_early = live();

std::uintptr_t address_of(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

detail::placed_record const* array_at(void const* p) noexcept {
  constexpr int patience = 16;
  auto& all = live();
  for (int attempt = 0; attempt < patience; ++attempt) {
    auto const answer = all.table.find(address_of(p));
    if (answer.outcome != decltype(all.table)::Lookup::disturbed) return answer.record;
  }
  std::lock_guard const lock(all.changing);  // a writer was suspended within its change
  return all.table.find(address_of(p)).record;
}

void announce(detail::placed_record const& record) {
  auto& all = live();
  std::lock_guard const lock(all.changing);
  auto const begin = address_of(record.data);
  all.table.insert(begin, begin + record.map.bytes(), &record);
  all.bytes += record.map.mapped_bytes();
}

void withdraw(detail::placed_record const& record) noexcept {
  auto& all = live();
  std::lock_guard const lock(all.changing);
  all.table.erase(address_of(record.data));
  all.bytes -= record.map.mapped_bytes();
}

std::uint64_t live_bytes() noexcept {
  auto& all = live();
  std::lock_guard const lock(all.changing);
  return all.bytes;
}

}  // namespace nigh::memory
