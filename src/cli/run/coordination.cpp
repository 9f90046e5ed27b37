// SPDX-License-Identifier: Apache-2.0
#include "cli/run/coordination.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "platform/local_socket.hpp"
#include "platform/program.hpp"
#include "platform/service.hpp"
#include "policy/cpus/team_waiting.hpp"
#include "settings/kmp_affinity.hpp"

namespace nigh::cli {

namespace {

bool says(std::optional<std::string> value, std::string_view word) {
  if (!value) return false;
  std::erase_if(*value, [](unsigned char c) { return std::isspace(c) != 0; });
  return std::equal(value->begin(), value->end(), word.begin(), word.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

}  // namespace

// OMP_PROC_BIND=false lets threads move, even with OMP_PLACES. Runtimes ignore an empty value.
std::optional<std::string> binding_in(Inherited const& inherited) {
  bool const is_free = says(inherited("OMP_PROC_BIND"), "false");
  constexpr std::array<std::string_view, 5> decided{
      "OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "NIGH_PLACES"};
  for (auto const name : decided) {
    auto const value = inherited(name);
    if (!value || says(value, "")) continue;
    if (is_free && name.starts_with("OMP_")) continue;
    if (name == "KMP_AFFINITY" && !settings::kmp_affinity_binds(*value)) continue;
    return std::string(name);
  }
  return std::nullopt;
}

std::optional<std::string> why_uncoordinated(Request const& request, Inherited const& inherited) {
  if (request.threads > 0 || request.bind || inherited("NIGH_COORDINATOR") == "off") return "";
  if (auto const name = binding_in(inherited))
    return "no coordinator: " + *name + " binds threads already";
  if (auto const tools = inherited("OMP_TOOL_LIBRARIES");
      tools && !tools->empty() && !says(inherited("OMP_TOOL"), "disabled"))
    return "no coordinator: OMP_TOOL_LIBRARIES names a tool, which is to see the program as it is";
  return std::nullopt;
}

bool has_said_how_to_wait(Inherited const& inherited) {
  return std::ranges::any_of(policy::waiting_variables,
                             [&](auto name) { return inherited(name).has_value(); });
}

std::vector<std::string> waiting_variables(Inherited const& inherited) {
  std::vector<std::string> variables;
  if (has_said_how_to_wait(inherited)) return variables;
  variables.push_back(std::string(policy::blocktime_variable) + '=' +
                      std::string(policy::blocktime_ms));
  if (!inherited("OPENBLAS_THREAD_TIMEOUT")) variables.emplace_back("OPENBLAS_THREAD_TIMEOUT=16");
  return variables;
}

result<void> ensure_coordinator(std::string const& socket, bool tells) {
  int const connection = platform::connect_local(socket.c_str());
  if (connection >= 0) {
    platform::close_descriptor(connection);
    return {};
  }
  // A program that waits until it has no children would wait for the coordinator's end.
  if (platform::adopts_orphans())
    return error{
        "none is there, and one started here would become the program's child, because process " +
        std::to_string(platform::process_id()) +
        (platform::process_id() == 1 ? " adopts all orphans" : " is a child subreaper")};
  auto const here = platform::this_program();
  if (here.empty()) return error{"the system does not say where nighd is (/proc/self/exe)"};
  auto const nighd = here.parent_path() / "nighd";
  auto const status =
      platform::start_service(nighd, {"--socket", socket, "--if-none"},
                              tells ? platform::Complains::yes : platform::Complains::no);
  if (!status) return status.to_error();
  if (*status != 0) return error{nighd.string() + " ended with status " + std::to_string(*status)};
  return {};
}

}  // namespace nigh::cli
