// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that run with more rights than the users who start them.

namespace nigh::platform {

// Whether the loader would ignore LD_PRELOAD for that reason if we started this file.
bool drops_preloads(char const* file) noexcept;

}  // namespace nigh::platform
