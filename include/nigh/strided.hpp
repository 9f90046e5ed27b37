// SPDX-License-Identifier: Apache-2.0
#pragma once
// strided(first, last, step), strided(range, step): every step-th integer or element, as a range.

#include <nigh/detail/cxx20.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <limits>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace nigh {

// A random-access iterator to element number at * step after `first`.
template <std::random_access_iterator I>
class strided_iterator {
 public:
  using value_type = std::iter_value_t<I>;
  using difference_type = std::ptrdiff_t;
  using reference = std::iter_reference_t<I>;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  strided_iterator() = default;
  constexpr strided_iterator(I first, std::ptrdiff_t step, std::ptrdiff_t at)
      : first_(first), step_(step), at_(at) {}

  constexpr reference operator*() const { return element(at_); }
  constexpr reference operator[](difference_type n) const { return element(at_ + n); }
  constexpr strided_iterator& operator+=(difference_type n) {
    at_ += n;
    return *this;
  }
  constexpr strided_iterator& operator-=(difference_type n) {
    at_ -= n;
    return *this;
  }
  constexpr strided_iterator& operator++() { return *this += 1; }
  constexpr strided_iterator& operator--() { return *this -= 1; }
  constexpr strided_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  constexpr strided_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend constexpr strided_iterator operator+(strided_iterator a, difference_type n) {
    return a += n;
  }
  friend constexpr strided_iterator operator+(difference_type n, strided_iterator a) {
    return a += n;
  }
  friend constexpr strided_iterator operator-(strided_iterator a, difference_type n) {
    return a -= n;
  }
  friend constexpr difference_type operator-(strided_iterator const& a, strided_iterator const& b) {
    return a.at_ - b.at_;
  }
  constexpr bool operator==(strided_iterator const& other) const { return at_ == other.at_; }
  constexpr std::strong_ordering operator<=>(strided_iterator const& other) const {
    return at_ <=> other.at_;
  }

 private:
  constexpr reference element(std::ptrdiff_t at) const {
    // Unsigned, for a product between numbers far apart may wrap, as their distance does.
    auto const distance = static_cast<std::size_t>(at) * static_cast<std::size_t>(step_);
    return *(first_ + static_cast<std::iter_difference_t<I>>(distance));
  }

  I first_{};
  std::ptrdiff_t step_ = 1;
  std::ptrdiff_t at_ = 0;
};

// A view: cheap to copy, valid as long as the elements are. A range of all algorithms of nigh, and
// of the standard library.
template <std::random_access_iterator I>
class strided_range {
 public:
  constexpr strided_range(I first, std::ptrdiff_t step, std::size_t count)
      : first_(first), step_(step), count_(count) {}

  constexpr strided_iterator<I> begin() const { return {first_, step_, 0}; }
  constexpr strided_iterator<I> end() const {
    return {first_, step_, static_cast<std::ptrdiff_t>(count_)};
  }
  constexpr std::size_t size() const noexcept { return count_; }
  constexpr bool empty() const noexcept { return count_ == 0; }
  constexpr decltype(auto) operator[](std::size_t i) const {
    return begin()[static_cast<std::ptrdiff_t>(i)];
  }

 private:
  I first_;
  std::ptrdiff_t step_;
  std::size_t count_;
};

// first, first + step, ... up to and without last; downwards when step is negative. Empty when last
// lies the other way. std::invalid_argument for a step of 0, for a negative integer among unsigned
// ones, and for more integers than std::ptrdiff_t counts.
template <std::integral First, std::integral Last>
constexpr auto strided(First first, Last last, std::ptrdiff_t step) {
  using index = std::common_type_t<First, Last>;
  if (step == 0) throw std::invalid_argument("a strided range with a step of 0");
  auto const from = static_cast<std::size_t>(first);
  auto const to = static_cast<std::size_t>(last);
  auto const apart = step > 0 ? static_cast<std::size_t>(step) : 0 - static_cast<std::size_t>(step);
  bool const empty = step > 0 ? !std::cmp_less(+first, +last) : !std::cmp_less(+last, +first);
  auto const length = step > 0 ? to - from : from - to;
  auto const steps = empty ? 0 : (length - 1) / apart;  // to the last one
  if (std::is_unsigned_v<index> && !empty) {
    if (std::cmp_less(+first, 0))
      detail::refuse_negative(static_cast<long long>(first), static_cast<unsigned long long>(last));
    if (step < 0 && steps > from / apart)
      throw std::invalid_argument("a strided range of unsigned integers goes below 0");
  }
  if (steps >= static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    throw std::invalid_argument("a strided range of more integers than std::ptrdiff_t counts");
  using iterator = detail::counting_iterator<index>;
  return strided_range<iterator>(iterator(static_cast<index>(first)), step, empty ? 0 : steps + 1);
}

// Elements 0, step, 2 * step, ... of a random-access range, which outlives the view.
// std::invalid_argument for a step of less than 1.
template <detail::iterable R>
constexpr auto strided(R&& range, std::ptrdiff_t step) {
  static_assert(detail::outlives_call<R>, "a strided range of a temporary container dangles");
  if (step < 1)
    throw std::invalid_argument("a strided range of elements needs a step of 1 or more");
  auto const length = detail::length_of(std::begin(range), std::end(range));
  auto const apart = static_cast<std::size_t>(step);
  return strided_range(std::begin(range), step, length / apart + (length % apart != 0));
}

}  // namespace nigh

template <class I>
inline constexpr bool std::ranges::enable_borrowed_range<nigh::strided_range<I>> = true;
