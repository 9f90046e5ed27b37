// SPDX-License-Identifier: Apache-2.0
#include "unit/pstl_inputs.hpp"
// Parallel algorithms that sort, select and merge.
#include <deque>
#include <functional>

namespace {

template <class T>
class PstlSort : public PstlTyped<T> {};
using sorted_types = testing::Types<int, std::string, owner>;
TYPED_TEST_SUITE(PstlSort, sorted_types);

// By all that tells elements apart: what an algorithm that need not be stable leaves behind.
template <class T>
bool before(T const& a, T const& b) {
  if constexpr (std::is_same_v<T, owner>)
    return std::pair(a.key, *a.number) < std::pair(b.key, *b.number);
  else
    return a < b;
}
template <class Iterator>
void order_fully(Iterator first, Iterator last) {
  std::sort(first, last, before<std::iter_value_t<Iterator>>);
}

TYPED_TEST(PstlSort, Sort) {
  this->on_any([](auto& x, auto const&... how) {
    std::sort(how..., x.a.begin(), x.a.end());
    bool const right = std::is_sorted(x.a.begin(), x.a.end());
    order_fully(x.a.begin(), x.a.end());
    std::sort(how..., x.b.begin(), x.b.end(), before<TypeParam>);  // no two are equal, of owners
    return right;
  });
}

TYPED_TEST(PstlSort, StableSort) {
  this->on_any([](auto& x, auto const&... how) {
    std::stable_sort(how..., x.a.begin(), x.a.end());
    std::stable_sort(how..., x.b.rbegin(), x.b.rend(),
                     [](TypeParam const& e, TypeParam const& f) { return f < e; });
    return true;
  });
  this->on_sorted([](auto& x, auto const&... how) {
    std::stable_sort(how..., x.a.begin(), x.a.end());
    return true;
  });
}

// Few elements are selected piece by piece; many are sorted with all others.
TYPED_TEST(PstlSort, PartialSort) {
  for (std::ptrdiff_t const part : {0, 1, 10, 500, 7000, 1 << 20}) {
    this->on_any([&](auto& x, auto const&... how) {
      auto const middle = x.a.begin() + std::min(part, x.size());
      std::partial_sort(how..., x.a.begin(), middle, x.a.end());
      bool const right =
          std::is_sorted(x.a.begin(), middle) &&
          (middle == x.a.begin() ||
           std::none_of(middle, x.a.end(), [&](auto const& e) { return e < *(middle - 1); }));
      order_fully(x.a.begin(), x.a.end());
      return right;
    });
  }
}

TYPED_TEST(PstlSort, PartialSortCopy) {
  for (std::ptrdiff_t const part : {0, 1, 10, 500, 7000, 1 << 20}) {
    this->on_any([&](auto& x, auto const&... how) {
      auto const room = x.out.begin() + std::min<std::ptrdiff_t>(part, 2 * x.size());
      auto const end = std::partial_sort_copy(how..., x.a.begin(), x.a.end(), x.out.begin(), room);
      bool const right = std::is_sorted(x.out.begin(), end);
      std::vector<int> keys;  // which of equal ones come out is not said
      if constexpr (std::is_same_v<TypeParam, owner>) {
        for (auto i = x.out.begin(); i != end; ++i) keys.push_back(i->key);
        std::fill(x.out.begin(), end, TypeParam());
      }
      return std::tuple(right, end - x.out.begin(), keys);
    });
  }
}

TYPED_TEST(PstlSort, NthElement) {
  for (std::ptrdiff_t const tenths : {0, 1, 5, 9}) {
    this->on_any([&](auto& x, auto const&... how) {
      if (x.a.empty()) return true;
      auto const nth = x.a.begin() + x.size() * tenths / 10;
      std::nth_element(how..., x.a.begin(), nth, x.a.end());
      bool const right = std::none_of(x.a.begin(), nth, [&](auto const& e) { return *nth < e; }) &&
                         std::none_of(nth, x.a.end(), [&](auto const& e) { return e < *nth; });
      order_fully(x.a.begin(), x.a.end());
      return right;
    });
  }
}

TYPED_TEST(PstlSort, MergeAndInplaceMerge) {
  this->on_sorted([](auto& x, auto const&... how) {
    x.b.resize(x.b.size() / 3);
    return std::merge(how..., x.a.begin(), x.a.end(), x.b.begin(), x.b.end(), x.out.begin()) -
           x.out.begin();
  });
  for (std::ptrdiff_t const tenths : {0, 1, 5, 10}) {
    this->on_any([&](auto& x, auto const&... how) {
      auto const middle = x.a.begin() + x.size() * tenths / 10;
      std::stable_sort(x.a.begin(), middle);
      std::stable_sort(middle, x.a.end());
      std::inplace_merge(how..., x.a.begin(), middle, x.a.end());
      return true;
    });
  }
}

TYPED_TEST(PstlSort, Sets) {
  auto const by_both = [&](auto const& algorithm) {
    this->on_sorted([&](auto& x, auto const&... how) {
      x.b.resize(x.b.size() / 3);
      return algorithm(x.a, x.b, x.out.begin(), how...) - x.out.begin();
    });
    this->on_sorted([&](auto& x, auto const&... how) {  // one after the other
      for (auto& e : x.b) e = stranger<TypeParam>();
      return algorithm(x.b, x.a, x.out.begin(), how...) - x.out.begin();
    });
  };
  by_both([](auto const& a, auto const& b, auto to, auto const&... how) {
    return std::set_union(how..., a.begin(), a.end(), b.begin(), b.end(), to);
  });
  by_both([](auto const& a, auto const& b, auto to, auto const&... how) {
    return std::set_intersection(how..., a.begin(), a.end(), b.begin(), b.end(), to);
  });
  by_both([](auto const& a, auto const& b, auto to, auto const&... how) {
    return std::set_difference(how..., a.begin(), a.end(), b.begin(), b.end(), to);
  });
  by_both([](auto const& a, auto const& b, auto to, auto const&... how) {
    return std::set_symmetric_difference(how..., a.begin(), a.end(), b.begin(), b.end(), to);
  });
}

struct only_moves {
  explicit only_moves(int k) : key(std::make_unique<int>(k)) {}
  std::unique_ptr<int> key;
};
struct throws_when_moved {  // and cannot be copied: nigh's sorts cannot keep it in a buffer
  explicit throws_when_moved(int k) : key(k) {}
  throws_when_moved(throws_when_moved&& other) noexcept(false) : key(other.key) {}
  throws_when_moved& operator=(throws_when_moved&& other) noexcept(false) {
    key = other.key;
    return *this;
  }
  int key;
};
struct by_key {  // no const call, as the standard allows it
  template <class T>
  bool operator()(T const& a, T const& b) {
    if constexpr (requires { *a.key; })
      return *a.key < *b.key;
    else
      return a.key < b.key;
  }
};

template <class T>
void sort_of_others() {
  std::vector<T> v;
  for (std::size_t i = 0; i < 30000; ++i) v.emplace_back(static_cast<int>(hash(i, 1) % 10000));
  std::sort(std::execution::par, v.begin(), v.end(), by_key());
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), by_key()));
  std::stable_sort(std::execution::par, v.rbegin(), v.rend(), by_key());
  EXPECT_TRUE(std::is_sorted(v.rbegin(), v.rend(), by_key()));
  std::partial_sort(std::execution::par, v.begin(), v.begin() + 10, v.end(), by_key());
  EXPECT_TRUE(std::is_sorted(v.begin(), v.begin() + 10, by_key()));
}

TEST(PstlSortOfOthers, OnlyMoved) { sort_of_others<only_moves>(); }
TEST(PstlSortOfOthers, MovesThatThrow) { sort_of_others<throws_when_moved>(); }
TEST(PstlSortOfOthers, Bits) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < 30000; ++i) bits.push_back(hash(i, 1) % 2 != 0);
  auto const set = std::count(bits.begin(), bits.end(), true);
  std::sort(std::execution::par, bits.begin(), bits.end());
  EXPECT_TRUE(std::is_sorted(bits.begin(), bits.end()));
  EXPECT_EQ(std::count(bits.begin(), bits.end(), true), set);
}
TEST(PstlSortOfOthers, DequeByGreater) {
  std::deque<double> d;
  for (std::size_t i = 0; i < 30000; ++i) d.push_back(hash(i, 1));
  std::sort(std::execution::par_unseq, d.begin(), d.end(), std::greater<>());
  EXPECT_TRUE(std::is_sorted(d.begin(), d.end(), std::greater<>()));
}

}  // namespace
