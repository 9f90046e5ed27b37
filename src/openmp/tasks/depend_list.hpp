// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dependences of one task in our own form, made from what its compiler passes.

#include <stdlib.h>

#include <cstddef>

#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {

// Few are kept in the object itself, which lives on the stack of the call.
class DependList {
 public:
  explicit DependList(std::size_t most) noexcept {
    if (most <= few) return;
    items_ = static_cast<Depend*>(malloc(most * sizeof(Depend)));
    if (items_ == nullptr) out_of_memory();
  }
  ~DependList() {
    if (items_ != few_) free(items_);
  }
  DependList(DependList&&) = delete;
  DependList& operator=(DependList&&) = delete;

  void add(Depend const& d) noexcept { items_[count_++] = d; }
  // Of a kind that a newer compiler has: after all earlier tasks, and before all later ones.
  void add_unknown() noexcept {
    add({0, Access::out});
    leave_alone(Left::unknown_dependence);
  }

  Depend const* items() const noexcept { return items_; }
  std::size_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t few = 16;

  std::size_t count_ = 0;
  Depend few_[few];
  Depend* items_ = few_;
};

}  // namespace nigh::openmp::tasks
