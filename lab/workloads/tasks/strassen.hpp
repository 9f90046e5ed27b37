// SPDX-License-Identifier: Apache-2.0
#pragma once
// Square pieces of matrices of doubles, and the arithmetic on them.

#include <cstddef>
#include <memory>

namespace strassen {

struct Square {  // a view; row r begins at first + r * stride
  double* first = nullptr;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t stride = 0;

  Square quadrant(int down, int right) const noexcept {
    std::ptrdiff_t const half = rows / 2;
    return {first + down * half * stride + right * half, half, stride};
  }
};

void add(Square to, Square a, Square b) noexcept;       // to = a + b
void subtract(Square to, Square a, Square b) noexcept;  // to = a - b
void multiply(Square to, Square a, Square b) noexcept;  // to = a * b, by the definition

// One level of Strassen's recursion (Numerische Mathematik 13, 1969): c = a * b from seven
// products.

class Step {
 public:
  static constexpr int products = 7;

  Step(Square c, Square a, Square b);

  // Product p of 0..6; any number of them at the same time. `multiply(to, x, y)` is the recursion.
  template <class Multiply>
  void product(int p, Multiply&& multiply) const {
    Scratch scratch(2 * area());
    Square const x = left(p, scratch.get());
    Square const y = right(p, scratch.get() + area());
    multiply(result(p), x, y);
  }

  void combine() const noexcept;  // when all products are there

 private:
  struct Scratch : std::unique_ptr<double[]> {
    explicit Scratch(std::size_t n)
        : std::unique_ptr<double[]>(std::make_unique_for_overwrite<double[]>(n)) {}
  };

  std::size_t area() const noexcept { return static_cast<std::size_t>(half_ * half_); }
  Square result(int p) const noexcept {
    return {results_.get() + static_cast<std::size_t>(p) * area(), half_, half_};
  }
  // The operands of product p: a quadrant, or the sum or difference of two, made in `space`.
  Square left(int p, double* space) const noexcept;
  Square right(int p, double* space) const noexcept;

  Square c_, a_, b_;
  std::ptrdiff_t half_;
  Scratch results_;
};

// Strassen's product of two square matrices: seven products of half the size, one task each.

inline constexpr int leaf_rows = 64;  // multiplied by the definition, in every variant

void solve_serial(Square c, Square a, Square b);
void solve_openmp(Square c, Square a, Square b);
void solve_tbb(Square c, Square a, Square b);
void solve_nigh(Square c, Square a, Square b);

}  // namespace strassen
