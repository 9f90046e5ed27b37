// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sequences that nigh's algorithms loop over: integers, random-access iterators and ranges, all
// seen as an iterator and a count.

#include <concepts>
#include <cstddef>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {
struct reduce_options;
}

namespace nigh::detail {

// Also what the standard library called random access before C++20: a std::move_iterator.
template <class I>
concept random_access =
    std::random_access_iterator<I> || (std::input_iterator<I> && requires {
      requires std::derived_from<typename std::iterator_traits<I>::iterator_category,
                                 std::random_access_iterator_tag>;
    });

// A container, view, span, nigh::array or C array.
template <class R>
concept iterable = requires(R& r) {
  std::begin(r);
  std::end(r);
};

// A range whose algorithm takes a value or an output next: the begin of a C array followed by a
// pointer is no range, but two iterators.
template <class R, class Next>
concept iterable_before = iterable<R> && !(std::is_array_v<std::remove_reference_t<R>> &&
                                           std::is_pointer_v<std::decay_t<Next>>);

// [first, last) of integers, or of iterators. Forward iterators are let in, so that sequence_of()
// can say what is wrong with them.
template <class First, class Last>
concept bounds = (std::integral<First> && std::integral<Last>) ||
                 (std::input_iterator<First> && std::sentinel_for<Last, First>);

// A function that an algorithm calls: never a bound, a pointer to data or a number.
template <class F>
concept function = std::is_class_v<std::remove_cvref_t<F>> ||
                   std::is_function_v<std::remove_pointer_t<std::remove_cvref_t<F>>>;

// The last argument of an algorithm: how it is to be run.
template <class How>
concept loop_choice = std::derived_from<How, loop_options> || std::same_as<How, reduce_options> ||
                      std::same_as<How, schedule>;

// The options that a choice stands for.
template <class Options = loop_options, loop_choice How>
Options options_of(How const& how) {
  if constexpr (std::derived_from<How, Options> || std::same_as<How, reduce_options>) {
    return how;
  } else {
    Options options;
    if constexpr (std::same_as<How, schedule>) {
      options.how = how;
    } else {
      loop_options const& all = how;
      options.how = all.how;
      options.stop = all.stop;
      options.where = all.where;
      options.grain = all.grain;
      options.members = all.members;
    }
    return options;
  }
}

template <class R>
inline constexpr bool is_placed = false;
template <class T>
inline constexpr bool is_placed<array<T>> = true;

// The same for a loop over a range: over a nigh::array, near its data unless a schedule is named.
template <class Options = loop_options, class R, loop_choice How>
Options options_near(R const& range, How const& how) {
  auto options = options_of<Options>(how);
  if constexpr (is_placed<R>)
    if (!options.how) options.how = nigh::local_schedule(range);
  return options;
}

// Integers as iterators: *it is the integer.
template <std::integral I>
class counting_iterator {
 public:
  using value_type = I;
  using difference_type = std::ptrdiff_t;
  using reference = I;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  counting_iterator() = default;
  explicit constexpr counting_iterator(I at) noexcept : at_(at) {}

  constexpr I operator*() const noexcept { return at_; }
  constexpr I operator[](difference_type n) const noexcept { return moved(n); }
  constexpr counting_iterator& operator+=(difference_type n) noexcept {
    at_ = moved(n);
    return *this;
  }
  constexpr counting_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  constexpr counting_iterator& operator++() noexcept { return *this += 1; }
  constexpr counting_iterator& operator--() noexcept { return *this += -1; }
  constexpr counting_iterator operator++(int) noexcept {
    auto const old = *this;
    ++*this;
    return old;
  }
  constexpr counting_iterator operator--(int) noexcept {
    auto const old = *this;
    --*this;
    return old;
  }
  friend constexpr counting_iterator operator+(counting_iterator a, difference_type n) noexcept {
    return a += n;
  }
  friend constexpr counting_iterator operator+(difference_type n, counting_iterator a) noexcept {
    return a += n;
  }
  friend constexpr counting_iterator operator-(counting_iterator a, difference_type n) noexcept {
    return a -= n;
  }
  friend constexpr difference_type operator-(counting_iterator a, counting_iterator b) noexcept {
    return static_cast<difference_type>(static_cast<std::size_t>(a.at_) -
                                        static_cast<std::size_t>(b.at_));
  }
  constexpr bool operator==(counting_iterator const&) const = default;
  constexpr auto operator<=>(counting_iterator const&) const = default;

 private:
  constexpr I moved(difference_type n) const noexcept {
    return static_cast<I>(static_cast<std::size_t>(at_) + static_cast<std::size_t>(n));
  }
  I at_ = 0;
};

template <random_access I>
I moved(I it, std::size_t by) {
  return it + static_cast<std::iter_difference_t<I>>(by);
}

// How many elements [first, last) has; none when it is reversed.
template <class First, class Last>
std::size_t length_of(First const& first, Last const& last) {
  auto const distance = last - first;
  return distance > 0 ? static_cast<std::size_t>(distance) : 0;
}

// Iterators of contiguous memory become pointers, so that loops over them are the plainest there
// are; others stay.
template <random_access I>
struct sequence {
  using reference = std::iter_reference_t<I>;
  using value_type = std::iter_value_t<I>;

  I first;
  std::size_t count;
  std::size_t origin = 0;  // the first one's number, as placements count: of integers, the first

  loop_range extent() const noexcept { return {origin, count, true}; }
  I at(std::size_t i) const { return moved(first, i); }
};

template <random_access I>
auto sequence_from(I first, std::size_t count) {
  if constexpr (std::contiguous_iterator<I> && !std::is_pointer_v<I>) {
    using pointer = std::add_pointer_t<std::iter_reference_t<I>>;
    return sequence<pointer>{count == 0 ? nullptr : std::to_address(first), count};
  } else {
    return sequence<I>{first, count};
  }
}

// [first, last); reversed, it is empty.
template <class First, class Last>
  requires bounds<First, Last>
auto sequence_of(First first, Last last) {
  if constexpr (std::integral<First>) {
    using index = std::common_type_t<First, Last>;
    auto const extent = loop_extent<index>(first, last);
    using iterator = counting_iterator<index>;
    return sequence<iterator>{iterator(static_cast<index>(first)), extent.count, extent.first};
  } else {
    constexpr bool random = random_access<First> && std::sized_sentinel_for<Last, First>;
    static_assert(random,
                  "nigh's algorithms divide their elements by number: they take random-access "
                  "iterators (of a vector, span, array or deque), not those of a list, set or map");
    if constexpr (random) {
      return sequence_from(first, detail::length_of(first, last));
    } else {  // so that the assertion above is the only error
      return sequence<std::iter_value_t<First>*>{nullptr, 0};
    }
  }
}

template <iterable R>
auto sequence_of(R& range) {
  return sequence_of(std::begin(range), std::end(range));
}

template <class First, class Last>
using sequence_by = decltype(sequence_of(std::declval<First>(), std::declval<Last>()));
template <class R>
using sequence_in = decltype(sequence_of(std::declval<R&>()));

// The place of element k, as the caller counts: an integer, or an iterator of the caller's kind.
template <class First, class Last>
auto place_of(First first, Last const&, std::size_t k) {
  if constexpr (std::integral<First>)
    return *(counting_iterator(static_cast<std::common_type_t<First, Last>>(first)) +
             static_cast<std::ptrdiff_t>(k));
  else if constexpr (random_access<First>)
    return first + static_cast<std::iter_difference_t<First>>(k);
  else
    return first;
}

// An algorithm that returns a place in its range must not be given one that is gone then.
template <class R>
inline constexpr bool outlives_call =
    std::is_lvalue_reference_v<R> || std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>;

// Neighbours of such an element lie in the same byte.
template <class Reference>
inline constexpr bool shares_bytes = std::is_same_v<Reference, std::vector<bool>::reference>;

// Threads write to its elements at the same time.
template <class Sequence>
constexpr void check_writable() {
  static_assert(
      !shares_bytes<typename Sequence::reference>,
      "elements of a std::vector<bool> share bytes, so threads cannot write to them at the "
      "same time: use a vector of char");
}

// Where an algorithm writes: an iterator or a range, whose room is then known.
struct room_of_output {
  std::size_t count = 0;
  bool is_known = false;
};

template <class Out>
auto output_begin(Out&& out) {
  if constexpr (iterable<std::remove_reference_t<Out>>)
    return std::begin(out);
  else
    return out;
}
// The end of an output of so many elements, as the caller counts.
template <class Out>
auto output_end(Out&& out, std::size_t count) {
  auto const first = output_begin(out);
  using iterator = std::remove_cv_t<decltype(first)>;
  if constexpr (random_access<iterator>)
    return first + static_cast<std::iter_difference_t<iterator>>(count);
  else
    return first;
}
template <class Out>
room_of_output output_room(Out&& out) {
  if constexpr (iterable<std::remove_reference_t<Out>>)
    return {static_cast<std::size_t>(std::end(out) - std::begin(out)), true};
  else
    return {};
}
struct anything {  // so that the assertion below is the only error
  template <class T>
  anything& operator=(T&& /*value*/);
};
template <class Out>
auto output_sequence(Out&& out, std::size_t count) {
  auto const first = output_begin(out);
  using iterator = std::remove_cv_t<decltype(first)>;
  constexpr bool random = random_access<iterator>;
  static_assert(random,
                "nigh's algorithms write their output from several threads: it is a random-access "
                "iterator or a range that has room already, not an inserter");
  if constexpr (random) {
    auto const all = sequence_from<iterator>(first, count);
    check_writable<std::remove_cv_t<decltype(all)>>();
    return all;
  } else {
    return sequence<anything*>{nullptr, 0};
  }
}

struct itself {  // a temporary, such as a vector<bool>'s element, is returned as a value
  template <class T>
  constexpr T operator()(T&& x) const {
    return static_cast<T&&>(x);
  }
};

// x == value; of numbers, converted as == does it, without a warning.
template <class X, class T>
bool are_equal(X const& x, T const& value) {
  if constexpr (std::is_arithmetic_v<X> && std::is_arithmetic_v<T>) {
    using both = std::common_type_t<X, T>;
    return static_cast<both>(x) == static_cast<both>(value);
  } else {
    return x == value;
  }
}

template <class T>
struct equals {
  T const& value;
  template <class X>
  bool operator()(X const& x) const {
    return are_equal(x, value);
  }
};

}  // namespace nigh::detail
