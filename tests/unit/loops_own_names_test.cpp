// SPDX-License-Identifier: Apache-2.0
// Programs with functions of the same names as nigh's, in the namespace of their element types.
#include <gtest/gtest.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <functional>
#include <nigh/algorithm.hpp>
#include <nigh/box.hpp>
#include <nigh/parallel_pipeline.hpp>
#include <nigh/runtime.hpp>
#include <optional>
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
