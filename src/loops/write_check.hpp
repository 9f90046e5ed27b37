// SPDX-License-Identifier: Apache-2.0
#pragma once
// WriteCheck: did an update write where it must not? For updates that run one at a time: then any
// change around a box is its update's.
// changes around a box its update has changed.

#include <array>
#include <cstddef>
#include <nigh/stencil.hpp>
#include <vector>

namespace nigh::loops {

class WriteCheck {
 public:
  // Fills in the strides that the arrays leave out. std::invalid_argument for arrays that cannot be.
  static void complete(detail::stencil_need& need);

  explicit WriteCheck(detail::stencil_need const& need) : need_(need) {}

  using Bytes = std::vector<std::byte>;
  Bytes before(detail::stencil_part const& part) const;
  // std::logic_error naming the step, the point and the box of what is not as it was.
  void after(detail::stencil_part const& part, Bytes const& was) const;

 private:
  using Point = std::array<std::ptrdiff_t, 3>;
  struct Box {
    Point low, high;
  };
  struct Element {
    std::byte const* at;
    std::size_t bytes, array;
    Point point;
    bool is_read_copy;
  };

  template <class F>
  void for_each_around(detail::stencil_part const& part, F const& f) const;
  Box around(stencil_array<3> const& array, Box const& box) const;
  bool holds(Box const& box, Point point) const;
  Box box_of(detail::stencil_part const& part) const;
  std::ptrdiff_t points(std::size_t dimension) const;
  [[noreturn]] void refuse(detail::stencil_part const& part, Element const& e) const;

  detail::stencil_need const& need_;
};

}  // namespace nigh::loops
