// SPDX-License-Identifier: Apache-2.0
#pragma once
// One level of Strassen's recursion (Numerische Mathematik 13, 1969): c = a * b from seven
// products.

#include <memory>

#include "strassen/square.hpp"

namespace strassen {

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

}  // namespace strassen
