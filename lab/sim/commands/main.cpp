// SPDX-License-Identifier: Apache-2.0
// nigh-sim: the program that `nigh sim` becomes. It speaks as that command, whose words it gets.

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"

int main(int argc, char** argv) {
  CLI::App app{"nigh runs parallel work near its data"};
  app.name("nigh");
  nigh::cli::add_sim(app);
  return nigh::cli::run_app(app, [&] {
    std::vector<std::string> words(argv + 1, argv + argc);
    words.insert(words.begin(), "sim");
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as CLI11 takes them
  });
}
