// SPDX-License-Identifier: Apache-2.0
#include "openmp/regions.hpp"

#include <limits.h>
#include <unistd.h>

#include "base/atomic.hpp"
#include "openmp/code_place.hpp"
#include "openmp/code_table.hpp"
#include "openmp/kept_errno.hpp"
#include "openmp/libraries.hpp"

namespace nigh::openmp {
namespace {

struct Known {
  coordinator::RegionId id = 0;
  Runtime const* runtime = nullptr;
  TeamRule rule = TeamRule::unknown;
  Adjust adjust = Adjust::as_known;
};

constinit CodeTable<Known, 4096> known_regions;

// Not on the stack, which may be small. Each thread writes the same.
std::string_view file_of_the_program() noexcept {
  static constinit char path[PATH_MAX];
  auto const length = readlink("/proc/self/exe", path, sizeof path);
  return {path, length < 0 ? 0 : static_cast<std::size_t>(length)};
}

Region look_at(void const* code, std::uint32_t age) {
  auto const [id, library] = place_of_code(code);
  if (library == nullptr) return {id, nullptr, code, TeamRule::unknown, adjust_of({}), age};
  if (*library != '\0')
    return {id, nullptr, code, rule_of(library, false), adjust_of(library), age};
  auto const file = file_of_the_program();
  return {id, nullptr, code, rule_of(file, true), adjust_of(file), age};
}

// Not inlined: it saves many registers, which each region would pay for.
[[gnu::noinline]] Region learn(void const* code, Entry entry, void const* caller,
                               std::uint32_t age) {
  KeptErrno const kept;
  Region found = look_at(code, age);
  found.runtime = find_runtime(entry, code, caller);
  if (found.runtime == nullptr) return found;
  known_regions.add(reinterpret_cast<std::uintptr_t>(code),
                    {found.id, found.runtime, found.rule, found.adjust}, age);
  return found;
}

}  // namespace

constinit sync::atomic<std::uint32_t> age_of_regions{1};

Region find_region(void const* code, Entry entry, void const* caller) noexcept {
  auto const age = times_forgotten();
  Known k;
  if (known_regions.find(reinterpret_cast<std::uintptr_t>(code), age, k)) [[likely]]
    return {k.id, k.runtime, code, k.rule, k.adjust, age};
  return learn(code, entry, caller, age);
}

void unlock_regions() noexcept { known_regions.unlock(); }

void forget_regions() noexcept { age_of_regions.fetch_add(1, sync::relaxed); }

}  // namespace nigh::openmp
