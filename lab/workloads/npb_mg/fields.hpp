// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arrays a run works on: u and r on all levels, v on the finest.

#include <nigh/array.hpp>
#include <vector>

#include "npb_mg/kernel.hpp"
#include "npb_random.hpp"

namespace npb_mg {

// The right side: -1 at the ten points with the smallest random numbers, +1 at those with the
// largest.

namespace generator = npb_random;

struct Point {
  int i = 0, j = 0, k = 0;  // 1 .. n
  bool operator==(Point const&) const = default;
};

struct Charges {
  std::vector<Point> plus;   // ten, of the largest number first
  std::vector<Point> minus;  // ten, of the smallest number first
};

// Points are numbered i first, then j, then k. Every thread skips ahead to planes of its own.
Charges find_charges(int n, int threads);

// The threads that first write the pages of the finest u. The threads that use the others write
// them first.
enum class Touch {
  as_used,    // as the loops that will use it are scheduled
  by_caller,  // all by one thread, as the C++ port of the benchmarks does (a call outside of every
              // parallel region)
};

struct Placing {
  nigh::placement rule = nigh::placement::first_touch();
  Touch touch = Touch::as_used;
  bool huge_pages = false;
  nigh::topology const* machine = nullptr;
};

class Fields {
 public:
  // std::bad_alloc with the bytes asked and available.
  Fields(Class const& size, Placing const& placing);

  int levels() const noexcept { return static_cast<int>(levels_.size()); }  // 0 is the coarsest
  Level const& level(int l) const noexcept { return levels_[static_cast<std::size_t>(l)]; }
  Level const& finest() const noexcept { return levels_.back(); }
  Touch touch() const noexcept { return touch_; }
  std::size_t bytes() const noexcept {
    return (u_.size() + r_.size() + v_.size()) * sizeof(double);
  }

  Out u(Level const& level, std::ptrdiff_t k) noexcept { return plane(u_.data(), level, k); }
  Out r(Level const& level, std::ptrdiff_t k) noexcept { return plane(r_.data(), level, k); }
  Out v(std::ptrdiff_t k) noexcept { return plane(v_.data(), finest(), k); }

  // Zeros a plane with its ghosts, k = 0 .. n+1; v has the finest level's only.
  void clear_u(Level const& level, std::ptrdiff_t k) noexcept { clear(u_.data(), level, k); }
  void clear_r(Level const& level, std::ptrdiff_t k) noexcept { clear(r_.data(), level, k); }
  void clear_v(std::ptrdiff_t k) noexcept { clear(v_.data(), finest(), k); }

  // Into a cleared v. Its ghosts stay zero: nobody reads the neighbours of v.
  void put(Charges const& charges) noexcept;

  double* u_data() noexcept { return u_.data(); }
  double* r_data() noexcept { return r_.data(); }
  double* v_data() noexcept { return v_.data(); }

  nigh::array<double> const& u_array() const noexcept { return u_; }
  nigh::array<double> const& r_array() const noexcept { return r_; }
  nigh::array<double> const& v_array() const noexcept { return v_; }

 private:
  static Out plane(double* all, Level const& level, std::ptrdiff_t k) noexcept {
    return {all + level.at(0, k), level.layout.row};
  }
  static void clear(double* all, Level const& level, std::ptrdiff_t k) noexcept;

  std::vector<Level> levels_;
  Touch touch_;
  nigh::array<double> u_, r_, v_;
};

}  // namespace npb_mg
