// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where our output goes: a terminal, or something else?

namespace nigh::platform {

inline constexpr int standard_input = 0, standard_output = 1;

bool errors_go_to_a_terminal() noexcept;  // standard error
bool is_interactive() noexcept;           // standard input and output are a terminal
int output_width() noexcept;  // columns of the terminal that standard output is; 0: it is none

}  // namespace nigh::platform
