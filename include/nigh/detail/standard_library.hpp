// SPDX-License-Identifier: Apache-2.0
#pragma once
// Strings and vectors go to the library and come from it, and what they look like depends on macros
// of libstdc++. A program that sets such a macro refers to a name that only a library compiled with
// the same macro has: it does not link, where it would crash.
#include <cstddef>
#include <nigh/detail/export.hpp>

#if defined(_LIBCPP_VERSION)
#define NIGH_OTHER_STANDARD_LIBRARY compiled_with_libcxx
#elif defined(_GLIBCXX_DEBUG)
#define NIGH_OTHER_STANDARD_LIBRARY compiled_with_GLIBCXX_DEBUG
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define NIGH_OTHER_STANDARD_LIBRARY compiled_without_GLIBCXX_USE_CXX11_ABI
#endif

#ifdef NIGH_OTHER_STANDARD_LIBRARY
namespace nigh::detail {
extern NIGH_API char const NIGH_OTHER_STANDARD_LIBRARY;
[[gnu::used]] static char const* const standard_library = &NIGH_OTHER_STANDARD_LIBRARY;
}  // namespace nigh::detail
#endif
