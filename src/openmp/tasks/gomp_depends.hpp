// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dependences of a task as gcc passes them: {n, writers, addresses...}, or {0, n, writers,
// mutexinoutset, readers, addresses, depobj...}. A depobj points to an address and a kind.

#include <cstddef>
#include <cstdint>

#include "openmp/tasks/depend_list.hpp"

namespace nigh::openmp::tasks {

struct GompDepends : DependList {
  explicit GompDepends(void** list) noexcept
      : DependList(number_at(list, 0) != 0 ? number_at(list, 0) : number_at(list, 1)) {
    bool const is_old = number_at(list, 0) != 0;
    auto const all = number_at(list, is_old ? 0 : 1);
    auto const writers = is_old ? number_at(list, 1) : number_at(list, 2) + number_at(list, 3);
    auto const plain = is_old ? all : writers + number_at(list, 4);
    void** const addresses = list + (is_old ? 2 : 5);
    for (std::size_t i = 0; i < all; ++i) {
      if (i < plain) {
        add({reinterpret_cast<std::uintptr_t>(addresses[i]),
             i < writers ? Access::out : Access::in});
      } else {
        add_object(static_cast<std::uintptr_t const*>(addresses[i]));
      }
    }
  }

 private:
  void add_object(std::uintptr_t const* object) noexcept {
    enum : std::uintptr_t { in = 1, out, inout, mutexinoutset, inoutset };
    switch (object[1]) {
      case in:
        return add({object[0], Access::in});
      case out:
      case inout:
      case mutexinoutset:
        return add({object[0], Access::out});
      case inoutset:
        return add({object[0], Access::set});
      default:
        add_unknown();
    }
  }
  static std::size_t number_at(void* const* list, std::size_t i) noexcept {
    return reinterpret_cast<std::size_t>(list[i]);
  }
};

}  // namespace nigh::openmp::tasks
