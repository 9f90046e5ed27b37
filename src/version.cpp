// SPDX-License-Identifier: Apache-2.0
#include <nigh/version.hpp>

namespace nigh {
char const* version() noexcept { return NIGH_VERSION; }
}  // namespace nigh
