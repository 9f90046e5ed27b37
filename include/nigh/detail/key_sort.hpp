// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sorts of numbers by their bits, compiled in the library (src/loops/key_sort.cpp).

#include <cstddef>
#include <cstdint>
#include <nigh/array.hpp>
#include <nigh/detail/export.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/loop_options.hpp>
#include <type_traits>

namespace nigh::detail {

enum class key_kind : std::uint8_t { natural, integer, floating };  // unsigned, signed, IEEE 754

struct key_order {
  std::size_t bytes;  // 1, 2, 4 or 8
  key_kind kind;
  bool falls;  // the greatest first
};

// Sorts n numbers. `placed`: the array in whose memory they lie; null: none, or it does not matter.
// Allocates up to as much memory as they take; without, it sorts in place. noexcept in all else.
NIGH_API void sort_keys(void* data, std::size_t n, key_order order, runtime* where,
                        placed_block const* placed);

// Memory of the same size and placement; std::bad_alloc.
NIGH_API placed_block placed_like(placed_block const& other, std::size_t element_bytes);

template <class T>
inline constexpr bool is_key =
    (std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>) &&
    sizeof(T) <= 8 && std::is_same_v<T, std::remove_cv_t<T>>;

template <class T, class Less>
inline constexpr bool rises =
    std::is_same_v<Less, std::less<>> || std::is_same_v<Less, std::less<T>> ||
    std::is_same_v<Less, std::ranges::less>;
template <class T, class Less>
inline constexpr bool falls =
    std::is_same_v<Less, std::greater<>> || std::is_same_v<Less, std::greater<T>> ||
    std::is_same_v<Less, std::ranges::greater>;

template <class T, class Less>
inline constexpr bool is_sorted_by_bits = is_key<T> && (rises<T, Less> || falls<T, Less>);

template <class T, class Less>
constexpr key_order key_order_of() {
  auto const kind = std::is_floating_point_v<T> ? key_kind::floating
                    : std::is_signed_v<T>       ? key_kind::integer
                                                : key_kind::natural;
  return {sizeof(T), kind, falls<T, Less>};
}

}  // namespace nigh::detail
