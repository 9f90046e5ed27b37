// SPDX-License-Identifier: Apache-2.0
#include <nigh/nigh.h>

#include <nigh/version.hpp>

namespace nigh {
char const* version() noexcept { return NIGH_VERSION; }
}  // namespace nigh

char const* nigh_version() noexcept { return nigh::version(); }
