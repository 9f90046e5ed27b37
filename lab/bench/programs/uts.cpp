// SPDX-License-Identifier: Apache-2.0
// uts: one tree of the unbalanced tree search, a task a node, as a plain program of nigh's.
// `nigh trace` records it.
#include "tasks/uts.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nigh/runtime.hpp>

#include "bench/options.hpp"

namespace {

struct Flags {
  std::string tree = "T3";
  int threads = 0;
};

void search(Flags const& f) {
  auto const* const known = uts::find_tree(f.tree);
  if (known == nullptr) throw bench::UsageError("--tree: \"" + f.tree + "\" is no tree");
  nigh::runtime_options options;
  if (f.threads > 0) options.workers = f.threads;
  nigh::runtime runtime(options);
  std::uint64_t nodes = 0;
  auto const start = std::chrono::steady_clock::now();
  runtime.run([&] { nodes = uts::solve_nigh({known->tree, 0}); });
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  fmt::print("{}: {} nodes in {:.3f} s\n", f.tree, nodes, took.count());
  if (nodes != known->nodes) throw std::runtime_error("it has " + std::to_string(known->nodes));
}

}  // namespace

int main(int argc, char** argv) {
  Flags f;
  return bench::run_program(
      "uts", "Counts the nodes of one tree of the unbalanced tree search.", argc, argv,
      [&](CLI::App& app) {
        app.add_option("--tree", f.tree, "its name, such as T1; default T3")->type_name("NAME");
        app.add_option("--threads", f.threads, "default: one for each allowed cpu")
            ->check(CLI::Range(1, 1024));
      },
      [&] { search(f); });
}
