// SPDX-License-Identifier: Apache-2.0
#include "platform/unknown_variables.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/known_variables.hpp"
#include "base/printable.hpp"

extern char** environ;

namespace nigh::platform {
namespace {

constexpr auto named_already = "NIGH_UNKNOWN_NAMED";

bool name_them() {
  if (environ == nullptr || std::getenv(named_already) != nullptr) return false;
  std::vector<std::string> names;
  for (char** have = environ; *have != nullptr; ++have)
    names.emplace_back(*have, std::strcspn(*have, "="));
  auto const unknown = base::unknown_variables(names);
  for (auto const& name : unknown)
    std::fprintf(stderr, "nigh: %s\n", base::printable(base::unknown_variable(name)).c_str());
  return !unknown.empty();
}

}  // namespace

void name_unknown_variables() {
  static bool const named = name_them();
  static_cast<void>(named);
}

void name_unknown_variables_for_all() {
  if (name_them()) ::setenv(named_already, "1", 1);
}

}  // namespace nigh::platform
