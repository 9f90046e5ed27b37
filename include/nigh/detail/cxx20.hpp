// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every public C++ header includes this one before all others, so that a compiler in an older mode
// says so in its first error. g++ 10 calls its C++20 201709.
#if __cplusplus <= 201703L
#error "nigh needs C++20: compile with -std=c++20 or later"
// An include that fails ends g++ and clang here, before hundreds of errors that follow from the
// first.
#include <nigh needs C++20: compile with -std=c++20 or later>
#endif
