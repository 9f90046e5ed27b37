// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sole owner of what lies on the heap. Not std::unique_ptr: <memory> takes longer to compile than
// all else of a small program.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace nigh::detail {

// Of an object made by new, or with T[] of an array made by new[]. T may be incomplete where no
// function but these declarations is used.
template <class T>
class owned {
  using element = std::remove_extent_t<T>;

 public:
  owned() = default;
  explicit owned(element* made) noexcept : made_(made) {}
  owned(owned&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    if (this != &other) reset(std::exchange(other.made_, nullptr));
    return *this;
  }
  ~owned() { reset(); }

  void reset(element* made = nullptr) noexcept {
    static_assert(sizeof(element) > 0, "an object of an incomplete type cannot be deleted");
    auto* const before = std::exchange(made_, made);
    if constexpr (std::is_array_v<T>)
      delete[] before;
    else
      delete before;
  }
  element* get() const noexcept { return made_; }
  explicit operator bool() const noexcept { return made_ != nullptr; }
  element& operator*() const noexcept { return *made_; }
  element* operator->() const noexcept { return made_; }
  element& operator[](std::size_t i) const noexcept { return made_[i]; }

 private:
  element* made_ = nullptr;
};

}  // namespace nigh::detail
