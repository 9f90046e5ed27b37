// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library's version, as built and as linked.

#include <nigh/detail/cxx20.hpp>

#include <nigh/detail/export.hpp>

namespace nigh {
NIGH_API char const* version() noexcept;  // "0.2.0"
}
