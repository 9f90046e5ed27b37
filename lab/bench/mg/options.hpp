// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the user asked `nigh bench mg` for.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/mg/setting.hpp"

namespace CLI {
class App;
}

namespace bench {

struct MgFlags {  // as typed
  std::string classes, threads, variants, bind, mem, isa, json, plot;
  std::optional<long> repetitions;
  bool quick = false, huge_pages = false, list = false;

  void declare(CLI::App& app);
};

struct MgOptions {  // checked
  nigh::topology machine;
  std::vector<npb_mg::Class const*> classes;
  std::vector<int> threads;
  std::vector<npb_mg::VariantInfo const*> variants;  // absent ones too, unless named
  std::vector<Bind> binds;
  std::vector<Mem> mems;
  npb_mg::Kernel const* kernel = nullptr;
  int repetitions = 0;
  bool huge_pages = false;
  std::vector<std::string> left_out;  // what makes no sense here, a sentence each

  explicit MgOptions(nigh::topology t) : machine(std::move(t)) {}
};

// UsageError naming the argument for what cannot be.
MgOptions check(MgFlags const& flags);

}  // namespace bench
