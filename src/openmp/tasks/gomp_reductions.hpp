// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reductions of taskgroups. libgomp's description of them, which the compiler's code reads: [0] how
// many variables, [1] bytes a thread, [2] alignment, then the memory, [4] the next one, [5] set on
// the last one that is new, [6] the memory's end, then {variable, offset, -} each.

#include <stdlib.h>
#include <string.h>

#include <cstdint>

#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {

inline void register_reductions(Member& me, std::uintptr_t* d) noexcept {
  std::uintptr_t* older = nullptr;
  for (Group* g = me.current->group; g != nullptr && older == nullptr; g = g->outer)
    older = g->reductions;
  std::uintptr_t* const first = d;
  for (;; d = reinterpret_cast<std::uintptr_t*>(d[4])) {
    auto const bytes = d[1] * me.size;
    auto const alignment = d[2] < 64 ? 64 : d[2];
    void* const memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) out_of_memory();
    memset(memory, 0, bytes);
    d[2] = reinterpret_cast<std::uintptr_t>(memory);
    d[5] = 0;
    d[6] = d[2] + bytes;
    if (d[4] == 0) break;
  }
  d[4] = reinterpret_cast<std::uintptr_t>(older);
  d[5] = 1;
  me.current->group->reductions = first;
}

inline void unregister_reductions(std::uintptr_t* d) noexcept {
  for (;; d = reinterpret_cast<std::uintptr_t*>(d[4])) {
    free(reinterpret_cast<void*>(d[2]));
    if (d[5] != 0) return;
  }
}

// This thread's copy of a variable, or of a part of one: `address` is the variable's own, or within
// another thread's copy. `original` is that of a whole variable.
inline bool find_copy(Member const& me, std::uintptr_t* d, std::uintptr_t address,
                      std::uintptr_t& copy, std::uintptr_t& original) noexcept {
  for (; d != nullptr; d = reinterpret_cast<std::uintptr_t*>(d[4])) {
    bool const is_copy = address >= d[2] && address < d[6];
    auto const offset = is_copy ? (address - d[2]) % d[1] : 0;
    auto const mine = d[2] + me.number * d[1];
    for (std::uintptr_t i = 0; i < d[0]; ++i) {
      auto const* const variable = d + 7 + 3 * i;
      if (is_copy ? variable[1] != offset : variable[0] != address) continue;
      copy = mine + variable[1];
      original = variable[0];
      return true;
    }
    if (is_copy) {
      copy = mine + offset;
      return true;
    }
  }
  return false;
}

inline std::uintptr_t* innermost_reductions(Member const& me) noexcept {
  for (Group* g = me.current->group; g != nullptr; g = g->outer)
    if (g->reductions != nullptr) return g->reductions;
  return nullptr;
}

}  // namespace nigh::openmp::tasks
