// SPDX-License-Identifier: Apache-2.0
#pragma once
// Function objects, iterators, concepts of ranges, functions for raw memory, and std::invoke as call(), as in <functional>,
// <iterator>, <ranges> and <memory>. libstdc++'s headers of these names bring streams, locales, hash
// tables and smart pointers as well: they took more than half of the time in which a small program
// compiled. Its parts have had these names since gcc 11; another library's headers come whole.

#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/invoke.h>) && __has_include(<bits/ranges_base.h>) && __has_include(<bits/ranges_cmp.h>) && \
    __has_include(<bits/stl_function.h>) && __has_include(<bits/stl_iterator.h>) && __has_include(<bits/stl_uninitialized.h>)
#include <span>
#include <vector>

#include <bits/invoke.h>
#include <bits/ranges_base.h>
#include <bits/ranges_cmp.h>
#include <bits/stl_function.h>
#include <bits/stl_iterator.h>
#include <bits/stl_uninitialized.h>

namespace nigh::detail {
template <class F, class... Arguments>
constexpr decltype(auto) call(F&& f, Arguments&&... arguments) {
  return std::__invoke(static_cast<F&&>(f), static_cast<Arguments&&>(arguments)...);
}
}  // namespace nigh::detail
#else
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>

namespace nigh::detail {
template <class F, class... Arguments>
constexpr decltype(auto) call(F&& f, Arguments&&... arguments) {
  return std::invoke(static_cast<F&&>(f), static_cast<Arguments&&>(arguments)...);
}
}  // namespace nigh::detail
#endif
