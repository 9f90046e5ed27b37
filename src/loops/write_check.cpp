// SPDX-License-Identifier: Apache-2.0
#include "loops/write_check.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace nigh::loops {

using detail::stencil_need;
using detail::stencil_part;

namespace {

constexpr double looked_at_whole = 65536;  // elements, the ghost points among them

std::array<std::size_t, 3> extents(stencil_need const& need) {
  return {need.points, need.rows, need.row_points};
}

std::string text(std::array<std::ptrdiff_t, 3> const& point, std::size_t dimensions) {
  std::string list;
  for (std::size_t d = 0; d < dimensions; ++d)
    list += (list.empty() ? "" : ", ") + std::to_string(point[d]);
  return "(" + list + ")";
}

[[noreturn]] void refuse_array(std::size_t number, std::string const& why) {
  throw std::invalid_argument("nigh::stencil: arrays: number " + std::to_string(number) + " " + why);
}

}  // namespace

void WriteCheck::complete(stencil_need& need) {
  auto const points = extents(need);
  for (std::size_t n = 0; n < need.arrays.size(); ++n) {
    auto& a = need.arrays[n];
    if (a.even == nullptr) refuse_array(n, "lies nowhere: even is null");
    if (a.element_bytes == 0) refuse_array(n, "has elements of 0 bytes");
    std::ptrdiff_t gapless = 0;
    if (__builtin_add_overflow(a.element_bytes, 0, &gapless)) refuse_array(n, "is too large");
    for (std::size_t d = 3; d-- > 0;) {
      if (a.stride_bytes[d] == 0) a.stride_bytes[d] = gapless;
      std::ptrdiff_t with_ghosts;
      if (__builtin_mul_overflow(a.ghosts[d], 2, &with_ghosts) ||
          __builtin_add_overflow(with_ghosts, points[d], &with_ghosts) ||
          __builtin_mul_overflow(a.stride_bytes[d], with_ghosts, &gapless))
        refuse_array(n, "is too large");
    }
  }
}

std::ptrdiff_t WriteCheck::points(std::size_t dimension) const {
  return static_cast<std::ptrdiff_t>(extents(need_)[dimension]);
}

WriteCheck::Box WriteCheck::box_of(stencil_part const& part) const {
  auto const at = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
  return {{at(part.plane_begin), at(part.row_begin), 0},
          {at(part.plane_end), at(part.row_end), points(2)}};
}

// The points to look at.
WriteCheck::Box WriteCheck::around(stencil_array<3> const& array, Box const& box) const {
  double elements = 1;
  for (std::size_t d = 0; d < 3; ++d)
    elements *= static_cast<double>(points(d)) + 2 * static_cast<double>(array.ghosts[d]);
  auto const near = 2 * static_cast<std::ptrdiff_t>(need_.reach) + 2;
  Box all;
  for (std::size_t d = 0; d < 3; ++d) {
    auto const ghosts = static_cast<std::ptrdiff_t>(array.ghosts[d]);
    all.low[d] = -ghosts;
    all.high[d] = points(d) + ghosts;
    if (elements <= looked_at_whole) continue;
    all.low[d] = std::max(all.low[d], box.low[d] - near);
    all.high[d] = std::min(all.high[d], box.high[d] + near);
  }
  return all;
}

template <class F>
void WriteCheck::for_each_around(stencil_part const& part, F const& f) const {
  auto const box = box_of(part);
  for (std::size_t n = 0; n < need_.arrays.size(); ++n) {
    auto const& a = need_.arrays[n];
    auto const [low, high] = around(a, box);
    auto const* const written = a.odd == nullptr || part.step % 2 == 0 ? a.even : a.odd;
    for (auto const* const copy : {a.even, a.odd}) {
      if (copy == nullptr) continue;
      Point p;
      for (p[0] = low[0]; p[0] < high[0]; ++p[0])
        for (p[1] = low[1]; p[1] < high[1]; ++p[1])
          for (p[2] = low[2]; p[2] < high[2]; ++p[2]) {
            std::ptrdiff_t offset = 0;
            for (std::size_t d = 0; d < 3; ++d) offset += p[d] * a.stride_bytes[d];
            f(Element{static_cast<std::byte const*>(copy) + offset, a.element_bytes, n, p,
                      copy != written});
          }
    }
  }
}

WriteCheck::Bytes WriteCheck::before(stencil_part const& part) const {
  Bytes was;
  for_each_around(part,
                  [&](Element const& e) { was.insert(was.end(), e.at, e.at + e.bytes); });
  return was;
}

void WriteCheck::after(stencil_part const& part, Bytes const& was) const {
  auto const box = box_of(part);
  auto const* expected = was.data();
  for_each_around(part, [&](Element const& e) {
    if (std::memcmp(expected, e.at, e.bytes) != 0 && (e.is_read_copy || !holds(box, e.point)))
      refuse(part, e);
    expected += e.bytes;
  });
}

// Or the point that it is a periodic image of.
bool WriteCheck::holds(Box const& box, Point point) const {
  for (std::size_t d = 0; d < 3; ++d) {
    if (need_.periodic[d]) point[d] = (point[d] % points(d) + points(d)) % points(d);
    if (point[d] < box.low[d] || point[d] >= box.high[d]) return false;
  }
  return true;
}

void WriteCheck::refuse(stencil_part const& part, Element const& e) const {
  auto const box = box_of(part);
  auto const as_text = [&](Point const& p) { return text(p, need_.dimensions); };
  throw std::logic_error(
      "nigh::stencil: the update of step " + std::to_string(part.step) + " wrote point " +
      as_text(e.point) +
      (need_.arrays.size() > 1 ? " of array " + std::to_string(e.array) : std::string()) +
      (e.is_read_copy ? " in the copy that it reads; its box is" : ", outside of its box") + " from " +
      as_text(box.low) + " to " + as_text(box.high));
}

}  // namespace nigh::loops
