// SPDX-License-Identifier: Apache-2.0
#include "openmp/regions.hpp"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <new>

#include "base/atomic.hpp"
#include "base/published.hpp"
#include "openmp/code_place.hpp"
#include "openmp/kept_errno.hpp"
#include "openmp/libraries.hpp"

namespace nigh::openmp {
namespace {

// Open addressing; entries are only ever added or renewed. A table that is half full is replaced by
// a larger copy, and stays, for threads that read it.
// (regions.A) `age` is stored last: a thread that finds it current sees all of the region that was
// stored before it. An entry changes only when its age is another, and no thread runs code of a
// library that was closed.
struct Known {
  sync::atomic<void const*> code{nullptr};
  sync::atomic<coordinator::RegionId> id{0};
  sync::atomic<Runtime const*> runtime{nullptr};
  sync::atomic<TeamRule> rule{TeamRule::unknown};
  sync::atomic<Adjust> adjust{Adjust::as_known};
  sync::atomic<std::uint32_t> age{0};
};

struct Table {
  Known& at(void const* code, std::size_t probe) const noexcept {
    auto const bits = reinterpret_cast<std::uintptr_t>(code);
    return entries[static_cast<std::size_t>(((bits * 0x9e3779b97f4a7c15U) >> 40U) + probe) &
                   (size - 1)];
  }

  Known* entries;
  std::size_t size;  // a power of two
  std::size_t used;  // under the lock
};
constexpr std::size_t first_size = 4096;
constexpr std::size_t largest_size = std::size_t{1} << 24U;  // as many bits as the hash has
constexpr std::size_t longest_probe = 64;
constinit std::array<Known, first_size> first_entries{};
constinit Table first_table{first_entries.data(), first_size, 0};
constinit base::Published<Table> larger_table;
constinit sync::atomic<std::uint32_t> current_age{1};
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

Table& table() noexcept {
  Table* const larger = larger_table.get();
  return larger == nullptr ? first_table : *larger;
}

// Not on the stack, which may be small. Each thread writes the same.
std::string_view file_of_the_program() noexcept {
  static constinit char path[PATH_MAX];
  auto const length = readlink("/proc/self/exe", path, sizeof path);
  return {path, length < 0 ? 0 : static_cast<std::size_t>(length)};
}

Region look_at(void const* code) {
  auto const [id, library] = place_of_code(code);
  if (library == nullptr) return {id, nullptr, code, TeamRule::unknown, adjust_of({})};
  if (*library != '\0') return {id, nullptr, code, rule_of(library, false), adjust_of(library)};
  auto const file = file_of_the_program();
  return {id, nullptr, code, rule_of(file, true), adjust_of(file)};
}

// Under the lock, as all that follows.
void add(Table& to, void const* code, Region const& found, std::uint32_t age) {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    Known& k = to.at(code, probe);
    void const* const there = k.code.load(sync::relaxed);
    if (there != nullptr && there != code) continue;
    if (there == nullptr) ++to.used;
    k.id.store(found.id, sync::relaxed);
    k.runtime.store(found.runtime, sync::relaxed);
    k.rule.store(found.rule, sync::relaxed);
    k.adjust.store(found.adjust, sync::relaxed);
    k.code.store(code, sync::relaxed);
    k.age.store(age, sync::release);  // (regions.A)
    break;
  }
}

Region region_of(Known const& k, void const* code) {
  return {k.id.load(sync::relaxed), k.runtime.load(sync::relaxed), code, k.rule.load(sync::relaxed),
          k.adjust.load(sync::relaxed)};
}

// Without room, regions beyond the table are looked up each time.
Table& with_room(Table& full, std::uint32_t age) {
  auto const size = 4 * full.size;
  if (size > largest_size) return full;
  void* const room = malloc(sizeof(Table) + size * sizeof(Known));
  if (room == nullptr) return full;
  auto* const entries = reinterpret_cast<Known*>(static_cast<Table*>(room) + 1);
  for (std::size_t i = 0; i < size; ++i) new (&entries[i]) Known;
  auto* const larger = new (room) Table{entries, size, 0};
  for (std::size_t i = 0; i < full.size; ++i) {
    Known const& k = full.entries[i];
    void const* const code = k.code.load(sync::relaxed);
    if (code != nullptr && k.age.load(sync::relaxed) == age)
      add(*larger, code, region_of(k, code), age);
  }
  larger_table.set(larger);
  return *larger;
}
static_assert(sizeof(Table) % alignof(Known) == 0);

// Not inlined: it saves many registers, which each region would pay for.
[[gnu::noinline]] Region learn(void const* code, Entry entry, void const* caller,
                               std::uint32_t age) {
  KeptErrno const kept;
  Region found = look_at(code);
  found.runtime = find_runtime(entry, code, caller);
  if (found.runtime == nullptr) return found;
  pthread_mutex_lock(&lock);
  Table& now = table();
  add(2 * now.used < now.size ? now : with_room(now, age), code, found, age);
  pthread_mutex_unlock(&lock);
  return found;
}

}  // namespace

Region find_region(void const* code, Entry entry, void const* caller) noexcept {
  auto const age = current_age.load(sync::relaxed);
  Table const& known = table();
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    Known const& k = known.at(code, probe);
    void const* const there = k.code.load(sync::relaxed);
    if (there == nullptr) break;
    if (there != code) continue;
    if (k.age.load(sync::acquire) != age) break;  // (regions.A)
    return region_of(k, code);
  }
  return learn(code, entry, caller, age);
}

void unlock_regions() noexcept { lock = PTHREAD_MUTEX_INITIALIZER; }

void forget_regions() noexcept { current_age.fetch_add(1, sync::relaxed); }

std::uint32_t times_forgotten() noexcept { return current_age.load(sync::relaxed); }

}  // namespace nigh::openmp
