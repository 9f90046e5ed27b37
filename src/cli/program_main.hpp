// SPDX-License-Identifier: Apache-2.0
#pragma once
// How `nigh` and the programs that belong to it end: one line for each mistake, and the exit code.

#include <functional>
#include <stdexcept>

namespace CLI {
class App;
}

namespace nigh::cli {

// Printed as one line on standard error. The message names the argument.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the command with the exit status of a program it ran; everything has been reported.
struct ExitStatus {
  int code = 0;
};

// Exit codes where the program itself fails. A command that ends with another program's status uses 125
// for both, as env and timeout do: the other codes are the program's.
struct FailureCodes {
  int mistake = 2;  // of the user
  int other = 1;
};
inline constexpr FailureCodes as_env_fails{125, 125};

// Calls body(), which parses the words for the app, and returns the exit code.
int run_app(CLI::App const& app, std::function<void()> const& body, FailureCodes codes = {});

}  // namespace nigh::cli
