// SPDX-License-Identifier: Apache-2.0
#include "unit/pstl_inputs.hpp"
// Parallel algorithms that change nothing: searches, comparisons, counts.

namespace {

template <class T>
class PstlSearch : public PstlTyped<T> {};
TYPED_TEST_SUITE(PstlSearch, element_types);

// An element at this part of the sequence becomes one that is nowhere else.
template <class T>
void mark(std::vector<T>& v, std::size_t numerator, std::size_t denominator) {
  if (!v.empty()) v[(v.size() - 1) * numerator / denominator] = stranger<T>();
}

TYPED_TEST(PstlSearch, AllAnyAndNone) {
  for (std::size_t const at : {0u, 1u, 2u, 3u}) {
    this->on_any([&](auto& x, auto const&... how) {
      mark(x.a, at, 3);
      auto const marked = [](auto const& e) { return e == stranger<TypeParam>(); };
      auto const begin = x.a.begin(), end = x.a.end();
      return 4 * std::all_of(how..., begin, end, marked) +
             2 * std::any_of(how..., begin, end, marked) + std::none_of(how..., begin, end, marked);
    });
  }
  this->on_any([](auto& x, auto const&... how) {
    auto const never = [](auto const&) { return false; };
    auto const begin = x.a.begin(), end = x.a.end();
    return 4 * std::all_of(how..., begin, end, never) + 2 * std::any_of(how..., begin, end, never) +
           std::none_of(how..., begin, end, never);
  });
}

TYPED_TEST(PstlSearch, Find) {
  for (std::size_t const at : {0u, 1u, 2u, 3u, 4u}) {
    this->on_any([&](auto& x, auto const&... how) {
      if (at < 4) {
        mark(x.a, at, 3);
        mark(x.a, 3, 3);  // of several, the first
      }
      return std::find(how..., x.a.begin(), x.a.end(), stranger<TypeParam>()) - x.a.begin();
    });
  }
}

TYPED_TEST(PstlSearch, FindIfAndFindIfNot) {
  this->on_any([](auto& x, auto const&... how) {
    return std::find_if(how..., x.a.begin(), x.a.end(), chosen<TypeParam>) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::find_if_not(how..., x.a.begin(), x.a.end(),
                            [](auto const& e) { return !(e == stranger<TypeParam>()); }) -
           x.a.begin();
  });
}

TYPED_TEST(PstlSearch, FindEndFindFirstOfSearchAndSearchN) {
  this->on_any([](auto& x, auto const&... how) {
    auto const third = x.a.begin() + x.size() / 3;
    auto const long_enough = std::min<std::ptrdiff_t>(5, x.a.end() - third);
    return std::find_end(how..., x.a.begin(), x.a.end(), third, third + long_enough) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    auto const third = x.a.begin() + x.size() / 3;
    auto const long_enough = std::min<std::ptrdiff_t>(5, x.a.end() - third);
    return std::search(how..., x.a.begin(), x.a.end(), third, third + long_enough) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    mark(x.a, 2, 3);
    std::vector<TypeParam> const any{stranger<TypeParam>(), stranger<TypeParam>()};
    return std::find_first_of(how..., x.a.begin(), x.a.end(), any.begin(), any.end()) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    for (auto i = x.size() / 2; i < x.size() && i < x.size() / 2 + 7; ++i)
      x.a[static_cast<std::size_t>(i)] = stranger<TypeParam>();
    return std::search_n(how..., x.a.begin(), x.a.end(), 7, stranger<TypeParam>()) - x.a.begin();
  });
}

TYPED_TEST(PstlSearch, AdjacentFind) {
  this->on_any([](auto& x, auto const&... how) {
    return std::adjacent_find(how..., x.a.begin(), x.a.end()) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::adjacent_find(how..., x.a.begin(), x.a.end(),
                              [](auto const&, auto const&) { return false; }) -
           x.a.begin();
  });
}

TYPED_TEST(PstlSearch, CountAndCountIf) {
  this->on_any([](auto& x, auto const&... how) {
    return x.a.empty() ? 0 : std::count(how..., x.a.begin(), x.a.end(), TypeParam(x.a.front()));
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::count_if(how..., x.a.begin(), x.a.end(), chosen<TypeParam>);
  });
}

TYPED_TEST(PstlSearch, EqualMismatchAndLexicographicalCompare) {
  for (std::size_t const at : {0u, 1u, 2u, 3u, 4u}) {
    auto const differ = [at](auto& x) {
      x.b = x.a;
      if (at < 4) mark(x.b, at, 3);
    };
    this->on_any([&](auto& x, auto const&... how) {
      differ(x);
      return std::equal(how..., x.a.begin(), x.a.end(), x.b.begin()) +
             2 * std::equal(how..., x.a.begin(), x.a.end(), x.b.begin(), x.b.end());
    });
    this->on_any([&](auto& x, auto const&... how) {
      differ(x);
      auto const found = std::mismatch(how..., x.a.begin(), x.a.end(), x.b.begin(), x.b.end());
      return std::pair(found.first - x.a.begin(), found.second - x.b.begin());
    });
    this->on_any([&](auto& x, auto const&... how) {
      differ(x);
      auto const a = x.a.begin(), a_end = x.a.end(), b = x.b.begin(), b_end = x.b.end();
      return std::lexicographical_compare(how..., a, a_end, b, b_end) +
             2 * std::lexicographical_compare(how..., b, b_end, a, a_end) +
             4 * std::lexicographical_compare(how..., a, a + x.size() / 2, b, b_end);
    });
  }
}

TYPED_TEST(PstlSearch, LeastAndGreatest) {
  this->on_any([](auto& x, auto const&... how) {
    return std::min_element(how..., x.a.begin(), x.a.end()) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::max_element(how..., x.a.begin(), x.a.end()) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    auto const found = std::minmax_element(how..., x.a.begin(), x.a.end());
    return std::pair(found.first - x.a.begin(), found.second - x.a.begin());
  });
}

TYPED_TEST(PstlSearch, SortedPartitionedHeap) {
  for (std::size_t const at : {0u, 1u, 2u, 3u}) {
    this->on_sorted([&](auto& x, auto const&... how) {
      mark(x.a, at, 3);
      return std::pair(std::is_sorted(how..., x.a.begin(), x.a.end()),
                       std::is_sorted_until(how..., x.a.begin(), x.a.end()) - x.a.begin());
    });
    this->on_any([&](auto& x, auto const&... how) {
      auto const small = [](auto const& e) { return !(e == stranger<TypeParam>()); };
      mark(x.a, at, 3);
      return std::is_partitioned(how..., x.a.begin(), x.a.end(), small);
    });
    this->on_any([&](auto& x, auto const&... how) {
      std::make_heap(x.a.begin(), x.a.end());
      mark(x.a, at, 3);
      return std::pair(std::is_heap(how..., x.a.begin(), x.a.end()),
                       std::is_heap_until(how..., x.a.begin(), x.a.end()) - x.a.begin());
    });
  }
}

TYPED_TEST(PstlSearch, Includes) {
  this->on_sorted([](auto& x, auto const&... how) {
    std::vector<TypeParam> some;
    for (std::size_t i = 0; i < x.a.size(); i += 3) some.push_back(x.a[i]);
    auto const begin = x.a.begin(), end = x.a.end();
    bool const all = std::includes(how..., begin, end, some.begin(), some.end());
    some.push_back(stranger<TypeParam>());
    return all + 2 * std::includes(how..., begin, end, some.begin(), some.end()) +
           4 * std::includes(how..., begin, end, x.b.begin(), x.b.end());
  });
}

}  // namespace
