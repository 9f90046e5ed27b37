// SPDX-License-Identifier: Apache-2.0
#include "unit/pstl_inputs.hpp"
// Parallel algorithms of <numeric>: reductions, scans, differences. The sums are of whole numbers
// that a double holds, so that their order does not matter.
#include <functional>

namespace {

// x -> factor x + term. Composing is associative, and not commutative.
struct affine {
  std::uint32_t factor = 1, term = 0;
  friend affine operator*(affine f, affine g) {  // first f
    return {f.factor * g.factor, f.term * g.factor + g.term};
  }
  friend bool operator==(affine, affine) = default;
};
affine composed(int x) {
  return {static_cast<std::uint32_t>(2 * x + 1), static_cast<std::uint32_t>(x)};
}

template <class T>
class PstlNumbers : public PstlTyped<T> {};
using number_types = testing::Types<int, double, std::int64_t>;
TYPED_TEST_SUITE(PstlNumbers, number_types);

TYPED_TEST(PstlNumbers, Reduce) {
  this->on_any([](auto& x, auto const&... how) {
    return std::reduce(how..., x.a.begin(), x.a.end()) +
           10 * std::reduce(how..., x.b.begin(), x.b.end(), TypeParam{7});
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::reduce(how..., x.a.begin(), x.a.end(), TypeParam{-1},
                       [](TypeParam e, TypeParam f) { return std::max(e, f); });
  });
}

TYPED_TEST(PstlNumbers, TransformReduce) {
  this->on_any([](auto& x, auto const&... how) {
    // libstdc++ adds products of ints as ints, and their sum is beyond one.
    auto const few = std::is_same_v<TypeParam, int> ? std::min<std::ptrdiff_t>(std::ssize(x.a), 500) : std::ssize(x.a);
    return std::transform_reduce(how..., x.a.begin(), x.a.begin() + few, x.b.begin(), TypeParam{1}) +
           std::transform_reduce(how..., x.a.begin(), x.a.end(), TypeParam{3}, std::plus<>(),
                                 [](TypeParam e) { return e / 2; });
  });
  // The function's values alone are no totals: only a sum of two makes one.
  this->on_any([](auto& x, auto const&... how) {
    struct wrapped {
      TypeParam value;
    };
    struct total {
      TypeParam value;
    };
    struct add {
      total operator()(total e, total f) const { return {e.value + f.value}; }
      total operator()(total e, wrapped f) const { return {e.value + f.value}; }
      total operator()(wrapped e, total f) const { return {e.value + f.value}; }
      total operator()(wrapped e, wrapped f) const { return {e.value + f.value}; }
    };
    return std::transform_reduce(how..., x.a.begin(), x.a.end(), total{5}, add(),
                                 [](TypeParam e) { return wrapped{e}; })
        .value;
  });
}

TYPED_TEST(PstlNumbers, InclusiveAndExclusiveScan) {
  this->on_any([](auto& x, auto const&... how) {
    return std::inclusive_scan(how..., x.a.begin(), x.a.end(), x.out.begin()) - x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::inclusive_scan(how..., x.a.begin(), x.a.end(), x.out.begin(), std::plus<>(),
                               TypeParam{9}) -
           x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {  // in place
    return std::inclusive_scan(how..., x.a.begin(), x.a.end(), x.a.begin(), std::plus<>()) -
           x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    std::exclusive_scan(how..., x.b.begin(), x.b.end(), x.out.begin() + x.size(), TypeParam{4});
    return std::exclusive_scan(how..., x.a.begin(), x.a.end(), x.out.begin(), TypeParam{4},
                               std::plus<>()) -
           x.out.begin();
  });
}

TYPED_TEST(PstlNumbers, ScansOfTransformed) {
  auto const half = [](TypeParam e) { return e / TypeParam{2}; };
  this->on_any([&](auto& x, auto const&... how) {
    return std::transform_inclusive_scan(how..., x.a.begin(), x.a.end(), x.out.begin(),
                                         std::plus<>(), half) -
           x.out.begin();
  });
  this->on_any([&](auto& x, auto const&... how) {
    return std::transform_inclusive_scan(how..., x.a.begin(), x.a.end(), x.out.begin(),
                                         std::plus<>(), half, TypeParam{2}) -
           x.out.begin();
  });
  this->on_any([&](auto& x, auto const&... how) {
    return std::transform_exclusive_scan(how..., x.a.begin(), x.a.end(), x.out.begin(),
                                         TypeParam{2}, std::plus<>(), half) -
           x.out.begin();
  });
}

TYPED_TEST(PstlNumbers, AdjacentDifference) {
  this->on_any([](auto& x, auto const&... how) {
    return std::adjacent_difference(how..., x.a.begin(), x.a.end(), x.out.begin()) - x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::adjacent_difference(how..., x.a.begin(), x.a.end(), x.out.begin(),
                                    std::multiplies<>()) -
           x.out.begin();
  });
}

TEST(PstlScan, OfWhatDoesNotCommute) {
  for (auto const n : sizes) {
    SCOPED_TRACE(n);
    inputs<int> const x(n);
    std::vector<affine> serial(n), parallel(n);
    std::transform_exclusive_scan(x.a.begin(), x.a.end(), serial.begin(), affine{3, 5},
                                  std::multiplies<>(), composed);
    std::transform_exclusive_scan(std::execution::par, x.a.begin(), x.a.end(), parallel.begin(),
                                  affine{3, 5}, std::multiplies<>(), composed);
    expect_identical("exclusive", parallel, serial);
    std::inclusive_scan(serial.begin(), serial.end(), serial.begin(), std::multiplies<>());
    std::inclusive_scan(std::execution::par, parallel.begin(), parallel.end(), parallel.begin(),
                        std::multiplies<>());
    expect_identical("inclusive", parallel, serial);
  }
}

TEST(PstlScan, OfStrings) {
  std::vector<std::string> serial(2000, "x"), parallel(serial);
  serial[1000] = parallel[1000] = "middle";
  std::inclusive_scan(serial.begin(), serial.end(), serial.begin());
  std::inclusive_scan(std::execution::par, parallel.begin(), parallel.end(), parallel.begin());
  expect_identical("strings", parallel, serial);
}

}  // namespace
