// SPDX-License-Identifier: Apache-2.0
// Programs with functions of the same names as nigh's, in the namespace of their element types.
#include <gtest/gtest.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <nigh/algorithm.hpp>
#include <nigh/box.hpp>
#include <nigh/parallel_pipeline.hpp>
#include <nigh/runtime.hpp>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace own_names {

struct item {
  int v = 0;
  auto operator<=>(item const&) const = default;
  friend item operator+(item a, item b) { return {a.v + b.v}; }
  friend item operator*(item a, item b) { return {a.v * b.v}; }
};
using items = std::vector<item>;

int calls = 0;

// Each fits its call inside nigh better than nigh's own function does.
template <class F>
void parallel_for(int, int, F const&, nigh::loop_options const& = {}) {
  ++calls;
}
template <class F>
void parallel_for(nigh::box<2> const&, F const&, nigh::loop_options const& = {}) {
  ++calls;
}
template <class P>
items::iterator parallel_find_if(items& v, P const&, nigh::loop_options const&) {
  ++calls;
  return v.end();
}
template <class P>
items::iterator parallel_find_if(items::iterator, items::iterator last, P const&, nigh::loop_options const&) {
  ++calls;
  return last;
}
template <class P>
bool parallel_any_of(items&, P const&, nigh::loop_options const&) {
  ++calls;
  return true;
}
template <class P>
bool parallel_any_of(items::iterator, items::iterator, P const&, nigh::loop_options const&) {
  ++calls;
  return true;
}
template <class P>
std::size_t parallel_count_if(items&, P const&, nigh::loop_options const&) {
  ++calls;
  return 0;
}
template <class P>
std::size_t parallel_count_if(items::iterator, items::iterator, P const&, nigh::loop_options const&) {
  ++calls;
  return 0;
}
template <class Body, class Combine>
item parallel_reduce(int, int, item x, Body const&, Combine const&, nigh::reduce_options const&) {
  ++calls;
  return x;
}
template <class Op, class F>
item parallel_transform_reduce(items&, items&, item x, Op const&, F const&, nigh::loop_options const&) {
  ++calls;
  return x;
}
template <class Op, class F>
item parallel_transform_reduce(items::iterator, items::iterator, items::iterator, item x, Op const&, F const&,
                               nigh::loop_options const&) {
  ++calls;
  return x;
}
template <class Less>
items::iterator parallel_merge(items&, items&, items::iterator out, Less const&, nigh::runtime*) {
  ++calls;
  return out;
}
template <class Less>
items::iterator parallel_merge(items::iterator, items::iterator, items::iterator, items::iterator,
                               items::iterator out, Less const&, nigh::runtime*) {
  ++calls;
  return out;
}
template <class P>
items::iterator parallel_partition(items::iterator first, items::iterator, P const&, nigh::runtime*) {
  ++calls;
  return first;
}
template <class P>
items::iterator parallel_stable_partition(items::iterator first, items::iterator, P const&, nigh::runtime*) {
  ++calls;
  return first;
}
template <class F, class G>
void parallel_pipeline(nigh::pipeline_options const&, nigh::pipeline_stage<F>, nigh::pipeline_stage<G>) {
  ++calls;
}

namespace {

bool is_small(item x) { return x.v < 3; }

TEST(OwnNames, AreNotCalledByNigh) {
  calls = 0;
  auto const how = nigh::dynamic_schedule();
  std::atomic<int> runs{0};
  item const own;  // its capture makes this namespace one of the body's
  nigh::parallel_for(0, 10, [&runs, own](int) { runs += 1 + own.v; }, how);
  nigh::parallel_for(nigh::box<2>{{0, 0}, {2, 5}}, [&runs, own](std::size_t, std::size_t) { runs += 1 + own.v; }, how);
  EXPECT_EQ(runs, 20);

  items v{{1}, {2}, {3}, {4}, {5}};
  EXPECT_EQ(nigh::parallel_find(v, item{3}) - v.begin(), 2);
  EXPECT_EQ(nigh::parallel_find(v.begin(), v.end(), item{3}) - v.begin(), 2);
  EXPECT_FALSE(nigh::parallel_all_of(v, is_small));
  EXPECT_FALSE(nigh::parallel_all_of(v.begin(), v.end(), is_small));
  EXPECT_FALSE(nigh::parallel_none_of(v, is_small));
  EXPECT_TRUE(nigh::parallel_none_of(v.begin() + 2, v.end(), is_small));
  EXPECT_EQ(nigh::parallel_count(v, item{3}), 1u);
  EXPECT_EQ(nigh::parallel_count(v.begin(), v.end(), item{3}), 1u);
  EXPECT_EQ(nigh::parallel_reduce(
                0, 5, item{}, [](int i) { return item{i}; }, std::plus<>(), how,
                nigh::reduction::deterministic),
            item{10});
  EXPECT_EQ(nigh::parallel_transform_reduce(v, v, item{}), item{55});
  EXPECT_EQ(nigh::parallel_transform_reduce(v.begin(), v.end(), v.begin(), item{}), item{55});
  items out(10);
  nigh::parallel_merge(v, v, out);
  EXPECT_EQ(out[9], item{5});
  out.assign(10, item{});
  EXPECT_EQ(nigh::parallel_merge(v, v, out.begin()), out.end());
  EXPECT_EQ(out[9], item{5});
  EXPECT_EQ(nigh::parallel_partition(v, is_small).size(), 3u);
  EXPECT_EQ(nigh::parallel_stable_partition(v, is_small).size(), 3u);

  int left = 3, came = 0;
  nigh::parallel_pipeline(
      2,
      nigh::stage(nigh::stage_mode::serial_in_order,
                  [&left]() -> std::optional<item> {
                    if (left == 0) return std::nullopt;
                    return item{left--};
                  }),
      nigh::stage(nigh::stage_mode::serial_in_order, [&came](item x) { came += x.v; }));
  EXPECT_EQ(came, 6);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace own_names

// Iterators of a library with an operator of its own for the comma, as Boost's and Blaze's have.
namespace own_comma {

struct no_comma {};

template <class T>
class iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  iterator() = default;
  explicit iterator(T* at) : at_(at) {}

  T& operator*() const { return *at_; }
  T& operator[](std::ptrdiff_t n) const { return at_[n]; }
  iterator& operator++() { return ++at_, *this; }
  iterator operator++(int) { return iterator(at_++); }
  iterator& operator--() { return --at_, *this; }
  iterator operator--(int) { return iterator(at_--); }
  iterator& operator+=(std::ptrdiff_t n) { return at_ += n, *this; }
  iterator& operator-=(std::ptrdiff_t n) { return at_ -= n, *this; }
  friend iterator operator+(iterator a, std::ptrdiff_t n) { return a += n; }
  friend iterator operator+(std::ptrdiff_t n, iterator a) { return a += n; }
  friend iterator operator-(iterator a, std::ptrdiff_t n) { return a -= n; }
  friend std::ptrdiff_t operator-(iterator a, iterator b) { return a.at_ - b.at_; }
  auto operator<=>(iterator const&) const = default;

  template <class Other>
  friend no_comma operator,(iterator const&, Other const&) = delete;
  template <class Other>
    requires std::is_arithmetic_v<Other>
  friend no_comma operator,(Other const&, iterator const&) = delete;

 private:
  T* at_ = nullptr;
};

namespace {

struct numbers {
  std::vector<int> all;
  iterator<int> begin() { return iterator<int>(all.data()); }
  iterator<int> end() { return begin() + std::ssize(all); }
};

TEST(OwnComma, IsNotCalledByNigh) {
  numbers v{{5, 1, 4, 2, 3}}, out{std::vector<int>(10)};
  auto const first = v.begin(), last = v.end(), to = out.begin();
  auto const is_odd = [](int x) { return x % 2 != 0; };
  auto const sum = [](int a, int b) { return a + b; };
  auto const how = nigh::dynamic_schedule(1);

  nigh::parallel_for_each(first, last, [](int& x) { ++x; }, how);
  nigh::parallel_for_each(v, [](int& x) { --x; });
  EXPECT_EQ(nigh::parallel_transform(first, last, to, [](int x) { return -x; }), to + 5);
  EXPECT_EQ(nigh::parallel_transform(first, last, to, to, sum), to + 5);
  EXPECT_EQ(out.all[0], 0);
  nigh::parallel_generate(to, to + 5, [](std::size_t i) { return static_cast<int>(i); });
  EXPECT_EQ(out.all[4], 4);
  nigh::parallel_fill(to, to + 5, 7);
  EXPECT_EQ(nigh::parallel_reduce(v, nigh::sum), 15);
  EXPECT_EQ(nigh::parallel_reduce(first, last, 1, sum), 16);
  EXPECT_EQ(nigh::parallel_transform_reduce(first, last, to, 0), 105);
  EXPECT_EQ(nigh::parallel_count(first, last, 4), 1u);
  EXPECT_EQ(nigh::parallel_count_if(first, last, is_odd), 3u);
  EXPECT_EQ(nigh::parallel_histogram(v, 2, [](int x) { return static_cast<std::size_t>(x % 2); })[1], 3u);
  EXPECT_EQ(nigh::parallel_find(first, last, 2) - first, 3);
  EXPECT_EQ(nigh::parallel_find_if(v, is_odd, how) - first, 0);
  EXPECT_TRUE(nigh::parallel_any_of(first, last, is_odd));
  EXPECT_EQ(nigh::parallel_min_element(v) - first, 1);
  EXPECT_EQ(nigh::parallel_max_element(first, last) - first, 0);
  EXPECT_EQ(nigh::parallel_minmax_element(v).second - first, 0);
  EXPECT_EQ(nigh::parallel_copy_if(first, last, to, is_odd) - to, 3);
  EXPECT_EQ(nigh::parallel_copy_if(v, to, [](int) { return true; }) - to, 5);
  EXPECT_EQ(nigh::parallel_filter(v, is_odd).size(), 3u);
  EXPECT_EQ(nigh::parallel_unique_copy(first, last, to) - to, 5);
  EXPECT_EQ(nigh::parallel_inclusive_scan(first, last, to, 0), 15);
  EXPECT_EQ(out.all[4], 15);
  EXPECT_EQ(nigh::parallel_exclusive_scan(first, last, to, 0), 15);
  EXPECT_EQ(nigh::parallel_exclusive_scan(v, std::span(out.all).first(5), 0), 15);
  EXPECT_EQ(out.all[4], 12);

  EXPECT_EQ(nigh::parallel_stable_partition(first, last, is_odd) - first, 3);
  EXPECT_EQ(nigh::parallel_partition(first, last, is_odd) - first, 3);
  nigh::parallel_sort(first, last);
  nigh::parallel_stable_sort(first, last);
  EXPECT_EQ(v.all, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(nigh::parallel_merge(first, last, first, last, to) - to, 10);
  EXPECT_EQ(out.all[9], 5);
  EXPECT_EQ(nigh::parallel_unique(to, out.end()) - to, 5);
  EXPECT_EQ(nigh::parallel_remove_if(first, last, is_odd) - first, 2);
}

}  // namespace
}  // namespace own_comma
