// SPDX-License-Identifier: Apache-2.0
// features [NAME]: runs the feature of that name, or all, a few times each. Exit status 1: one gave a wrong answer.
#include "features.hpp"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  char const* const wanted = argc > 1 ? argv[1] : nullptr;
  bool found = false, all_work = true;
  for (auto const group : {user::task_features(), user::thread_features(), user::loop_features(), user::algorithm_features(),
                           user::c_features()})
    for (auto const& f : group) {
      if (wanted != nullptr && std::strcmp(wanted, f.name) != 0) continue;
      found = true;
      bool works = true;
      for (int times = 0; times < 3; ++times) works = f.works() && works;
      std::printf("%-28s %s\n", f.name, works ? "ok" : "WRONG");
      std::fflush(stdout);
      all_work = all_work && works;
    }
  if (!found) std::fprintf(stderr, "features: there is no feature %s\n", wanted != nullptr ? wanted : "at all");
  return found && all_work ? 0 : 1;
}
