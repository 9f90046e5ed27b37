// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as bytes, for tasks that travel between ranks: trivially copyable types, strings, and
// vectors and spans of the former. All ranks run the same program, so bytes mean the same everywhere.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh::cluster::detail {

using bytes = std::vector<std::byte>;
using byte_view = std::span<std::byte const>;

// An address means nothing on another rank.
template <class T>
inline constexpr bool is_address =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;
template <class T, std::size_t N>
inline constexpr bool is_address<std::span<T, N>> = true;
template <class T>
inline constexpr bool is_address<std::basic_string_view<T>> = true;
template <class T>
inline constexpr bool is_address<std::reference_wrapper<T>> = true;

template <class T>
concept plain =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && !is_address<T>;

template <class T>
struct is_row : std::false_type {};
template <plain T>
struct is_row<std::vector<T>> : std::true_type {};
template <plain T>
struct is_row<std::basic_string<T>> : std::true_type {};
template <class T>
concept row = is_row<T>::value;  // all elements, one after the other

template <class T>
concept packable = (plain<T> || row<T>) && !std::is_same_v<T, std::vector<bool>>;

// The form in which a task keeps an argument until it runs: for a view, a copy of its elements.
template <class Parameter>
struct kept_as {
  using type = Parameter;
};
template <class T>
struct kept_as<std::span<T const>> {
  using type = std::vector<T>;
};
template <class T>
struct kept_as<std::basic_string_view<T>> {
  using type = std::basic_string<T>;
};
template <class Parameter>
using kept_of = typename kept_as<std::remove_cvref_t<Parameter>>::type;

template <class View, class Of>
inline constexpr bool is_view = false;
template <class T, std::size_t N>
inline constexpr bool is_view<std::span<T, N>, std::remove_cv_t<T>> = true;
template <class T>
inline constexpr bool is_view<std::basic_string_view<T>, T> = true;

template <class Kept, class View>
inline constexpr bool is_row_of_view = false;
template <row Kept, class View>
inline constexpr bool is_row_of_view<Kept, View> = is_view<View, typename Kept::value_type>;

// The argument, or a copy of a view: views do not become vectors by themselves.
template <class Kept, class A>
decltype(auto) for_keeping(A&& argument) {
  if constexpr (is_row_of_view<Kept, std::remove_cvref_t<A>>)
    return Kept(argument.begin(), argument.end());
  else
    return std::forward<A>(argument);
}

template <packable T>
std::size_t packed_size(T const& value) noexcept {
  if constexpr (row<T>)
    return sizeof(std::uint64_t) + value.size() * sizeof(typename T::value_type);
  else
    return sizeof(T);
}

template <class Tuple>
inline constexpr bool has_rows = false;
template <class... T>
inline constexpr bool has_rows<std::tuple<T...>> = (row<T> || ...);

class packer {
 public:
  explicit packer(std::byte* to) noexcept : to_(to) {}
  template <packable T>
  void put(T const& value) noexcept {
    if constexpr (row<T>) {
      std::uint64_t const count = value.size();
      copy(&count, sizeof count);
      copy(value.data(), value.size() * sizeof(typename T::value_type));
    } else {
      copy(&value, sizeof value);
    }
  }

 private:
  void copy(void const* from, std::size_t n) noexcept {
    if (n > 0) std::memcpy(to_, from, n);
    to_ += n;
  }
  std::byte* to_;
};

class unpacker {
 public:
  explicit unpacker(byte_view from) noexcept : from_(from) {}
  template <packable T>
  T get() {
    if constexpr (row<T>) {
      auto const count = get<std::uint64_t>();
      if (count > from_.size() / sizeof(typename T::value_type)) refuse();
      using element = typename T::value_type;
      T value;
      if constexpr (std::is_default_constructible_v<element>) {
        value.resize(static_cast<std::size_t>(count));
        copy(value.data(), value.size() * sizeof(element));
      } else {
        value.reserve(static_cast<std::size_t>(count));
        for (std::uint64_t i = 0; i < count; ++i) value.push_back(get<element>());
      }
      return value;
    } else {
      if (from_.size() < sizeof(T)) refuse();
      alignas(T) std::byte raw[sizeof(T)];
      copy(raw, sizeof raw);
      return *std::launder(reinterpret_cast<T*>(raw));
    }
  }

 private:
  [[noreturn]] static void refuse() {
    throw std::runtime_error("a task's message is shorter than its arguments");
  }
  void copy(void* to, std::size_t n) noexcept {
    if (n > 0) std::memcpy(to, from_.data(), n);
    from_ = from_.subspan(n);
  }
  byte_view from_;
};

template <class... T>
std::size_t packed_size_of(std::tuple<T...> const& values) noexcept {
  return std::apply([](auto const&... v) { return (std::size_t{0} + ... + packed_size(v)); },
                    values);
}
template <class... T>
void pack_all(std::tuple<T...> const& values, std::byte* to) noexcept {
  packer p(to);
  std::apply([&](auto const&... v) { (p.put(v), ...); }, values);
}
template <class Tuple>
struct unpack_all;
template <class... T>
struct unpack_all<std::tuple<T...>> {
  static std::tuple<T...> from(byte_view input) {
    unpacker u(input);
    return std::tuple<T...>{u.get<T>()...};  // braces: from left to right
  }
};

}  // namespace nigh::cluster::detail
