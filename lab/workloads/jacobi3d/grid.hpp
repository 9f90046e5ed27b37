// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a lattice site lies in memory, what it starts with, and how fields are compared.

#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jacobi3d {

// The problem, and the choices of a run: sizes, placement rule, submission order.
//
//   F'(i,j,k) = c1 F(i,j,k) + c2 {[F(i-1,j,k) + F(i+1,j,k)]
//                                 + ([F(i,j-1,k) + F(i,j,k-1)] + [F(i,j+1,k) + F(i,j,k+1)])}
//
// on a box with a fixed boundary, i the fast index, from one array into another (Wittmann and Hager
// 2009). The six neighbours are summed as the brackets say by every variant, so their fields agree
// bit for bit. The last pair is the middle one of site (i,j+1,k+1), so that who goes through rows
// and planes together adds it up once for both.

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

// Memory layout of one field, in doubles:
//
//   row    [ 7 unused or shared | i = -1 | i = 0 .. n-1 | i = n ]   starts on a cache line, and so
//                                                                   does i = 0
//   plane  rows j = -1 .. n
//   field  planes k = -1 .. n
//
// Rows are a whole number of cache lines apart, and not a multiple of 8 lines; planes an odd number
// of lines. So the rows and planes a stencil reads at one time fall into different cache sets, and
// 4 KiB aliasing between loads and stores is rare.
struct Grid {
  static constexpr std::ptrdiff_t line = 8;  // doubles in a cache line

  Extent interior;
  std::ptrdiff_t row_pitch = 0;
  std::ptrdiff_t plane_pitch = 0;

  explicit Grid(Extent const& size) noexcept;

  std::size_t elements() const noexcept {
    return static_cast<std::size_t>(plane_pitch * (interior.k + 2) + line);
  }

  // Offset of a site; each index may be -1 or one beyond the interior, for the boundary.
  std::ptrdiff_t at(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) const noexcept {
    return (k + 1) * plane_pitch + (j + 1) * row_pitch + line + i;
  }
};

// The field a run starts from: a reproducible value in [0, 1) for each site, boundary included.
double initial_value(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) noexcept;

// Writes initial values to the planes [k0, k1), boundary rows and columns included; k may be -1 and
// one beyond the interior. The unused doubles are written too, so that their pages are touched.
void fill_planes(Grid const& grid, double* field, std::ptrdiff_t k0, std::ptrdiff_t k1) noexcept;

// Of the interior sites of the planes [k0, k1). A sum modulo 2^64 of one hash per site (of its bits
// and its position), so parts may be added in any order, and a single wrong bit shows.
std::uint64_t checksum_planes(Grid const& grid, double const* field, std::ptrdiff_t k0,
                              std::ptrdiff_t k1) noexcept;

// The definition, site by site, without vectors, blocks or threads: what every variant is held to.
void reference_sweep(Grid const& grid, double const* from, double* to, std::ptrdiff_t k0,
                     std::ptrdiff_t k1) noexcept;

// Interior sites whose bits differ.
std::size_t different_sites(Grid const& grid, double const* a, double const* b) noexcept;

// The grid cut into blocks, their submission orders, and who touches which of them first.

// Block n = (kb * along().j + jb) * along().i + ib. The last block along an axis may be smaller.
class Blocks {
 public:
  Blocks(Extent const& grid, Extent const& block) noexcept;

  Extent const& along() const noexcept { return along_; }  // blocks along each axis
  int size() const noexcept { return static_cast<int>(along_.sites()); }
  int number(std::ptrdiff_t ib, std::ptrdiff_t jb, std::ptrdiff_t kb) const noexcept {
    return static_cast<int>((kb * along_.j + jb) * along_.i + ib);
  }
  int layer(int block) const noexcept { return static_cast<int>(block / (along_.i * along_.j)); }
  int layers() const noexcept { return static_cast<int>(along_.k); }

  Box box(int block) const noexcept;
  Box layer_box(int layer) const noexcept;  // all blocks with this kb

  // Every block once. strip: how many j-blocks a strip is wide, for Order::strips.
  std::vector<int> submission(Order order, int strip) const;

 private:
  Extent grid_, block_, along_;
};

// So many j-blocks that what a strip reads for two layers fits into so much cache; at least one.
int strip_width(Grid const& grid, Extent const& block, std::uint64_t cache_bytes) noexcept;

// The thread that touches a layer first.
int first_toucher(Init init, int layer, int layers, int threads) noexcept;

}  // namespace jacobi3d
