// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that run with more rights than those who start them.

namespace nigh::platform {

// Whether the loader, for that reason, would hear nothing of LD_PRELOAD if we started this file.
bool drops_preloads(char const* file) noexcept;

}  // namespace nigh::platform
