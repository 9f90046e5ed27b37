// SPDX-License-Identifier: Apache-2.0
#include "uts/config.hpp"
#include "workloads/counting.hpp"

namespace workloads {

namespace {

std::string names() {
  std::string text;
  for (auto const& known : uts::known_trees())
    text += (text.empty() ? "" : ", ") + std::string(known.name);
  return text;
}

std::unique_ptr<Instance> make(std::string const& size, int cutoff) {
  uts::KnownTree const* const known = uts::find_tree(size);
  if (known == nullptr)
    throw std::invalid_argument("\"" + size + "\" is no tree: there are " + names());
  using Uts =
      Counting<uts::Config, uts::solve_serial, uts::solve_openmp, uts::solve_tbb, uts::solve_nigh>;
  return std::make_unique<Uts>(uts::Config{known->tree, cutoff}, known->nodes, known->nodes - 1);
}

}  // namespace

Problem uts_problem() {
  return {
      "uts",        "the name of a tree, such as T1", {"T1-tiny", "T2-tiny", "T5-tiny", "T3-tiny"},
      {"T1", "T3"}, {"T2", "T1L", "T2L", "T3L"},      make};
}

}  // namespace workloads
