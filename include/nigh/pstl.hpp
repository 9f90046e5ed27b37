// SPDX-License-Identifier: Apache-2.0
#pragma once
// std::execution::par on nigh: a back end for libstdc++'s parallel algorithms, in place of TBB.
//
//   #include <nigh/pstl.hpp>  // before all others, or: g++ -include nigh/pstl.hpp
//   #include <algorithm>
//   #include <execution>
//   std::sort(std::execution::par, v.begin(), v.end());
//
// For the libstdc++ of gcc 12 to 15, with any compiler that uses it. The algorithms of this source
// run in the calling worker's runtime, otherwise in the default one; libtbb is neither needed nor
// linked. It includes neither <algorithm>'s parallel overloads nor <execution>: these stay the
// program's to include.
//
// Semantics are those of the standard. An exception that leaves an element access function ends the
// program by std::terminate, other than std::bad_alloc of an algorithm's own buffer, which is
// thrown. Any thread may call them, at the same time as others. A thread that waits for an
// algorithm's other threads runs other tasks meanwhile: hold no lock across it that a task may
// want, too.
//
// Sources with this header and sources with libstdc++'s own back ends may be parts of one program,
// since all templates of the algorithms have names of their own here: namespace __pstl is called
// __pstl_nigh. So are the types of the policies; a function that takes one as an argument is of one
// kind or of the other.

#include <nigh/detail/cxx20.hpp>

// An include that fails ends the compiler there, before the errors that would follow.
#if defined(_PSTL_EXECUTION_POLICY_DEFS_H)
#error \
    "include <nigh/pstl.hpp> before <algorithm>, <execution>, <memory>, <numeric> and what includes them, or compile with -include nigh/pstl.hpp"
#include <nothing more: see the error above>
#endif

#undef _GLIBCXX_USE_TBB_PAR_BACKEND
#define _GLIBCXX_USE_TBB_PAR_BACKEND 0
#include <version>

#if defined(_LIBCPP_VERSION)
#error \
    "nigh/pstl.hpp is a back end for libstdc++; libc++ has parallel algorithms of its own: compile without -stdlib=libc++, or without this header"
#include <nothing more: see the error above>
#elif !defined(__GLIBCXX__) || !defined(_PSTL_VERSION)
#error \
    "nigh/pstl.hpp is a back end for the parallel algorithms of libstdc++, which this standard library has not"
#include <nothing more: see the error above>
#elif (_GLIBCXX_RELEASE < 12 || _GLIBCXX_RELEASE > 15) && !defined(NIGH_PSTL_ANY_VERSION)
#error \
    "nigh/pstl.hpp knows the parallel algorithms of libstdc++ 12 to 15; to try it with this one, define NIGH_PSTL_ANY_VERSION"
#include <nothing more: see the error above>
#endif

// A standard header that came first may have chosen.
#undef _PSTL_PAR_BACKEND_TBB
#undef _PSTL_PAR_BACKEND_OPENMP
#undef _PSTL_PAR_BACKEND_SERIAL
#define _PSTL_PAR_BACKEND_SERIAL

// This takes the place of <pstl/parallel_backend.h>.
#define _PSTL_PARALLEL_BACKEND_H
#define __pstl __pstl_nigh

#include <cstddef>
#include <exception>
#include <new>
#include <nigh/detail/pstl_backend.hpp>
#include <nigh/fork_join.hpp>
#include <type_traits>
#include <utility>

// From gcc 14 on, each function is told the back end first.
#if _PSTL_VERSION >= 17000
#define NIGH_PSTL_KINDS class Tag, class Policy
#define NIGH_PSTL_WHO Tag, Policy&&
#else
#define NIGH_PSTL_KINDS class Policy
#define NIGH_PSTL_WHO Policy&&
#endif

namespace __pstl::__par_backend {

template <class T>
using __buffer = nigh::detail::pstl::buffer<T>;

inline void __cancel_execution() noexcept { nigh::detail::pstl::early_end::ask(); }

template <NIGH_PSTL_KINDS, class Index, class Brick>
void __parallel_for(NIGH_PSTL_WHO, Index first, Index last, Brick brick) {
  nigh::detail::pstl::for_each_piece(first, last, brick);
}

template <NIGH_PSTL_KINDS, class Value, class Index, class Brick, class Join>
Value __parallel_reduce(NIGH_PSTL_WHO, Index first, Index last, Value const& identity,
                        Brick const& brick, Join const& join) {
  return nigh::detail::pstl::reduce_in_order<Value>(first, last, identity, brick, join);
}

template <NIGH_PSTL_KINDS, class Index, class Unary, class Value, class Join, class Brick>
Value __parallel_transform_reduce(NIGH_PSTL_WHO, Index first, Index last, Unary unary, Value init,
                                  Join join, Brick brick) {
  nigh::detail::pstl::shared_function const each(unary);
  nigh::detail::pstl::shared_function const both(join);
  return nigh::detail::pstl::transform_reduce(first, last, each, std::move(init), both, brick);
}

template <NIGH_PSTL_KINDS, class Index, class Value, class Reduce, class Join, class Scan,
          class Apex>
void __parallel_strict_scan(NIGH_PSTL_WHO, Index count, Value initial, Reduce reduce, Join join,
                            Scan scan, Apex apex) {
  nigh::detail::pstl::shared_function const both(join);
  nigh::detail::pstl::strict_scan(count, std::move(initial), reduce, both, scan, apex);
}

template <NIGH_PSTL_KINDS, class Index, class Unary, class Value, class Join, class Reduce,
          class Scan>
Value __parallel_transform_scan(NIGH_PSTL_WHO, Index count, Unary unary, Value init, Join join,
                                Reduce reduce, Scan scan) {
  nigh::detail::pstl::shared_function const each(unary);
  nigh::detail::pstl::shared_function const both(join);
  return nigh::detail::pstl::transform_scan(count, each, std::move(init), both, reduce, scan);
}

// Of all stable_sort(); with a number of elements, partial_sort() and partial_sort_copy().
template <NIGH_PSTL_KINDS, class Iterator, class Compare, class LeafSort>
void __parallel_stable_sort(NIGH_PSTL_WHO, Iterator first, Iterator last, Compare compare,
                            LeafSort leaf_sort, std::size_t selected = 0) {
  if constexpr (nigh::detail::pstl::sortable<Iterator>) {
    if (selected == 0)
      nigh::detail::pstl::stable_sort(first, last, compare);
    else
      nigh::detail::pstl::partial_sort(first, last, compare, leaf_sort, selected);
  } else {
    leaf_sort(first, last, compare);
  }
}

template <NIGH_PSTL_KINDS, class X, class Y, class Out, class Compare, class LeafMerge>
void __parallel_merge(NIGH_PSTL_WHO, X x, X x_end, Y y, Y y_end, Out out, Compare compare,
                      LeafMerge leaf_merge) {
  nigh::detail::pstl::merge(x, x_end, y, y_end, out, compare, leaf_merge);
}

template <NIGH_PSTL_KINDS, class F, class G>
void __parallel_invoke(NIGH_PSTL_WHO, F&& f, G&& g) {
  nigh::fork_join(std::forward<F>(f), std::forward<G>(g));
}

}  // namespace __pstl::__par_backend

// libstdc++ has no other call for a sort that need not be stable than its stable one. These are
// preferred to its own, being more constrained; should a later version call something else, they
// are not called, and its sort is stable.
namespace __pstl::__internal {
#if _PSTL_VERSION >= 17000
template <class IsVector>
struct __parallel_tag;

template <class IsVector, class Policy, class Iterator, class Compare>
  requires nigh::detail::pstl::sortable<Iterator>
void __pattern_sort(__parallel_tag<IsVector>, Policy&&, Iterator first, Iterator last,
                    Compare compare, std::true_type /*moves*/) {
  nigh::detail::pstl::ends_by_terminate([&] { nigh::detail::pstl::sort(first, last, compare); });
}
#else
template <class Policy, class Iterator, class Compare, class IsVector>
  requires nigh::detail::pstl::sortable<Iterator>
void __pattern_sort(Policy&&, Iterator first, Iterator last, Compare compare, IsVector,
                    std::true_type /*parallel*/, std::true_type /*moves*/) {
  nigh::detail::pstl::ends_by_terminate([&] { nigh::detail::pstl::sort(first, last, compare); });
}
#endif
}  // namespace __pstl::__internal

#undef NIGH_PSTL_KINDS
#undef NIGH_PSTL_WHO
