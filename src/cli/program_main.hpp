// SPDX-License-Identifier: Apache-2.0
#pragma once
// How `nigh` and the programs that belong to it end: one line for each mistake, and the exit code.

#include <functional>
#include <stdexcept>

namespace CLI {
class App;
}

namespace nigh::cli {

// Printed as one line on standard error; the exit code is 2. The message names the argument.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the command with the exit status of a program it ran; everything has been reported.
struct ExitStatus {
  int code = 0;
};

// Calls body(), which parses the words for the app, and returns the exit code.
int run_app(CLI::App const& app, std::function<void()> const& body);

}  // namespace nigh::cli
