// SPDX-License-Identifier: Apache-2.0
#pragma once
// A line on standard error for each environment variable with nigh's prefix that nigh does not
// know: mostly a slip of the pen, whose setting would otherwise do nothing without a word.

namespace nigh::platform {

// A program says so at the first call; unless the command of nigh that started it has.
void name_unknown_variables();
// For commands of nigh, at their beginning, while there is one thread: programs that the command
// starts do not repeat it.
void name_unknown_variables_for_all();

}  // namespace nigh::platform
