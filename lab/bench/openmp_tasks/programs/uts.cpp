// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search: a task a node, of a tree whose shape is known only where it has been
// searched.
#include "program.hpp"
#include "shapes/uts_tree.hpp"

namespace {

unsigned long nodes_below(uts::Tree const& tree, uts::Node const& node) {
  int const children = uts::children_of(tree, node);
  unsigned long found[uts::most_children] = {};
  for (int c = 0; c < children && c < uts::most_children; ++c) {
#pragma omp task firstprivate(c) shared(tree, node, found)
    found[c] = nodes_below(tree, uts::child_of(node, c));
  }
#pragma omp taskwait
  unsigned long sum = 1;
  for (int c = 0; c < children && c < uts::most_children; ++c) sum += found[c];
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  task_program::answer_help(argc, argv,
                            "a geometric tree of the unbalanced tree search; default T1");
  char const* const name = argc > 1 ? argv[1] : "T1";
  uts::KnownTree const* const known = uts::find_tree(name);
  // A binomial tree's root has thousands of children.
  if (known == nullptr || known->tree.kind != uts::Kind::geometric)
    task_program::refuse(argv[0], name,
                         "a geometric tree of the unbalanced tree search, such as T1");
  unsigned long found = 0;
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    found = nodes_below(known->tree, uts::root_of(known->tree));
  });
  return task_program::report(seconds, found == known->nodes);
}
