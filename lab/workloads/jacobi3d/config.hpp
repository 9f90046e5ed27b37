// SPDX-License-Identifier: Apache-2.0
#pragma once
// The problem, and the choices of a run: sizes, placement rule, submission order.
//
//   F'(i,j,k) = c1 F(i,j,k) + c2 {[F(i-1,j,k) + F(i+1,j,k)]
//                                 + ([F(i,j-1,k) + F(i,j,k-1)] + [F(i,j+1,k) + F(i,j,k+1)])}
//
// on a box with a fixed boundary, i the fast index, from one array into another (Wittmann and Hager
// 2009). The six neighbours are summed as the brackets say by every variant, so their fields agree
// bit for bit. The last pair is the middle one of site (i,j+1,k+1), so that who goes through rows
// and planes together adds it up once for both.

#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace jacobi3d {

inline constexpr double c1 = 0.4;
inline constexpr double c2 = 0.1;

// Lattice sites along each axis; of the grid's interior, or of one block.
struct Extent {
  std::ptrdiff_t i = 0, j = 0, k = 0;

  constexpr std::size_t sites() const noexcept {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(j) * static_cast<std::size_t>(k);
  }
  bool operator==(Extent const&) const = default;
};

inline constexpr Extent paper_grid{600, 600, 600};
inline constexpr Extent paper_block{600, 10, 10};

// Half-open box of interior sites.
struct Box {
  Extent lo, hi;

  bool operator==(Box const&) const = default;
};

// The thread that touches each layer of blocks (all blocks with the same k) first.
enum class Init : std::uint8_t {
  contiguous,   // thread t the t-th run of layers, as schedule(static) gives
  round_robin,  // layer n thread n mod threads, as schedule(static, 1) gives
  ld0,          // all of them the threads of domain 0
};

// In which order tasks are submitted; the last letter runs fastest.
enum class Order : std::uint8_t {
  kji,
  jki,
  strips,  // kji within strips of j-blocks so narrow that a strip's last layer is still in cache
           // when the next layer needs it; not in the paper
};

std::string_view to_string(Init init) noexcept;  // "static", "static,1", "ld0"
std::string_view to_string(Order order) noexcept;
std::optional<Init> init_from_string(std::string_view name) noexcept;  // "cyclic" too
std::optional<Order> order_from_string(std::string_view name) noexcept;

// An error that names the argument (--grid, --block) when a size is not positive, a block does not
// fit into the grid, or two arrays of that size could not be addressed.
nigh::result<void> check(Extent const& grid, Extent const& block);

}  // namespace jacobi3d
