// SPDX-License-Identifier: Apache-2.0
#include "openmp/regions.hpp"

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <array>

#include "base/atomic.hpp"
#include "openmp/code_place.hpp"
#include "openmp/libraries.hpp"

namespace nigh::openmp {
namespace {

// Open addressing; entries are only ever added or renewed.
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
constexpr std::size_t most_regions = 4096;
constexpr std::size_t longest_probe = 64;
constinit std::array<Known, most_regions> table{};
constinit sync::atomic<std::uint32_t> current_age{1};
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

std::size_t slot(void const* code, std::size_t probe) noexcept {
  auto const bits = reinterpret_cast<std::uintptr_t>(code);
  return static_cast<std::size_t>(((bits * 0x9e3779b97f4a7c15U) >> 40U) + probe) % most_regions;
}

Region look_at(void const* code) {
  auto const [id, library] = place_of_code(code);
  if (library == nullptr) return {id, nullptr, code, TeamRule::unknown, adjust_of({})};
  if (*library != '\0') return {id, nullptr, code, rule_of(library, false), adjust_of(library)};
  char path[PATH_MAX];
  auto const length = readlink("/proc/self/exe", path, sizeof path);
  std::string_view const file(path, length < 0 ? 0 : static_cast<std::size_t>(length));
  return {id, nullptr, code, rule_of(file, true), adjust_of(file)};
}

void add(void const* code, Region const& found, std::uint32_t age) {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    Known& k = table[slot(code, probe)];
    void const* const there = k.code.load(sync::relaxed);
    if (there != nullptr && there != code) continue;
    k.id.store(found.id, sync::relaxed);
    k.runtime.store(found.runtime, sync::relaxed);
    k.rule.store(found.rule, sync::relaxed);
    k.adjust.store(found.adjust, sync::relaxed);
    k.code.store(code, sync::relaxed);
    k.age.store(age, sync::release);  // (regions.A)
    break;
  }
}

template <class FindRuntime>
Region find(void const* code, FindRuntime&& its_runtime) {
  auto const age = current_age.load(sync::relaxed);
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    Known const& k = table[slot(code, probe)];
    void const* const there = k.code.load(sync::relaxed);
    if (there == nullptr) break;
    if (there != code) continue;
    if (k.age.load(sync::acquire) != age) break;  // (regions.A)
    return {k.id.load(sync::relaxed), k.runtime.load(sync::relaxed), code,
            k.rule.load(sync::relaxed), k.adjust.load(sync::relaxed)};
  }
  Region found = look_at(code);
  found.runtime = its_runtime();
  if (found.runtime == nullptr) return found;
  pthread_mutex_lock(&lock);
  add(code, found, age);
  pthread_mutex_unlock(&lock);
  return found;
}

}  // namespace

Region find_region(void const* code, Entry entry, void const* caller) noexcept {
  return find(code, [&] { return find_runtime(entry, code, caller); });
}

Region find_caller(void const* caller, Entry entry) noexcept {
  return find(caller, [&] { return find_runtime(entry, caller, caller); });
}

void unlock_regions() noexcept { lock = PTHREAD_MUTEX_INITIALIZER; }

void forget_regions() noexcept { current_age.fetch_add(1, sync::relaxed); }

}  // namespace nigh::openmp
