// SPDX-License-Identifier: Apache-2.0
// Wrong calls of algorithms: each is refused by the words of the comment in front of it.
// must_not_compile_test.py reads them.
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <nigh/algorithm.hpp>
#include <set>
#include <vector>

std::list<int> list;
std::set<int> set;
std::vector<double> doubles;
std::vector<int> ints;
std::vector<long> longs;
std::vector<bool> bits;
auto const plus = std::plus<>();

// Each has types of its own: a compiler refuses one instantiation once, however many calls share
// it.
void wrong_calls() {
  // the identity (init) is an integer, so each step would truncate
  nigh::parallel_reduce(0, 9, 0, [](auto i) -> double { return 0.5 * i; }, plus);
  // the identity (init) is an integer, so each step would truncate
  nigh::parallel_reduce(0, 9, 0L, [](int i, double sum) { return sum + 0.5 * i; }, plus);
  // the identity (init) is an integer, so each step would truncate
  nigh::parallel_reduce(doubles, 0U, plus);
  // the identity (init) is an integer, so each step would truncate
  nigh::parallel_transform_reduce(doubles, doubles, 0LL);
  // the values are wider integers than the identity (init)
  nigh::parallel_reduce(0, 9, 0, [](int i) { return static_cast<long>(i); }, plus);
  // the values are wider integers than the identity (init)
  nigh::parallel_reduce(longs.begin(), longs.end(), 0U, plus);
  // a reduction's operation joins two values
  nigh::parallel_reduce(0, 9, 0.5F, [](int i) { return 0.5F * static_cast<float>(i); });
  // they take random-access iterators
  nigh::parallel_for(list, [](int) {});
  // they take random-access iterators
  nigh::parallel_for_each(set.begin(), set.end(), [](int) {});
  // they take random-access iterators
  nigh::parallel_transform(std::list<long>(3), ints, [](long) { return 1; });
  // they take random-access iterators
  nigh::parallel_reduce(std::set<long>{3}, nigh::sum);
  // they take random-access iterators
  nigh::parallel_find_if(list.cbegin(), list.cend(), [](int) { return true; });
  // they take random-access iterators
  nigh::parallel_remove_if(std::list<char>().begin(), std::list<char>().end(),
                           [](char) { return true; });
  // not an inserter
  nigh::parallel_copy_if(ints, std::back_inserter(ints), [](int) { return true; });
  // elements of a std::vector<bool> share bytes
  nigh::parallel_fill(bits, true);
  // elements of a std::vector<bool> share bytes
  nigh::parallel_for(bits, [](std::vector<bool>::reference bit) { bit = true; });
  // a predicate takes an element or index and returns bool, and is called as const
  nigh::parallel_count_if(ints, [n = 0](int) mutable { return ++n > 0; });
  // a body of a loop over a range takes an element
  nigh::parallel_for(ints, [](std::vector<int>) {});
  // the place found in a temporary container dangles
  nigh::parallel_find(std::vector<int>(3), 1);
  // nigh::min and nigh::max of nothing are the limits of numbers
  nigh::parallel_reduce(std::vector<std::string>(3), nigh::min);
  // an identity that cannot be copied has a body(index) that returns a value
  nigh::parallel_reduce(
      0, 9, std::unique_ptr<int>(), [](int, std::unique_ptr<int> p) { return p; },
      [](std::unique_ptr<int> a, std::unique_ptr<int>) { return a; });
}
