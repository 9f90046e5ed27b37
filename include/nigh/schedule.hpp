// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the iterations of a loop are divided among workers: a value that every loop takes.

#include <nigh/detail/cxx20.hpp>

#include <nigh/array.hpp>
#include <nigh/detail/export.hpp>
#include <nigh/detail/schedule_value.hpp>
#include <nigh/result.hpp>
#include <string>
#include <string_view>

namespace nigh {

// "static", "static,16", "dynamic,4", "guided", "guided,8", "adaptive", "local"; the error names
// the mistake.
NIGH_API result<schedule> parse_schedule(std::string_view text);
// The same words; for a default chunk, the kind only.
NIGH_API std::string to_string(schedule const& how);

}  // namespace nigh
