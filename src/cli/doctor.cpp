// SPDX-License-Identifier: Apache-2.0
// nigh doctor: what on this machine limits nigh, and what to do about it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nigh/topology.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/machine_facts.hpp"

namespace nigh::cli {
namespace {

constexpr std::size_t line_width = 88;

// The text in lines of line_width, all except the first indented by the length of `label`.
std::string paragraph(std::string const& label, std::string const& text) {
  std::string out = label;
  std::size_t column = label.size();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column + word.size() > line_width) {
      out.back() = '\n';
      out += std::string(label.size(), ' ');
      column = label.size();
    }
    out += word + ' ';
    column += word.size() + 1;
  }
  out.back() = '\n';
  return out;
}

std::string as_text(topology const& machine, std::vector<Finding> const& findings) {
  std::string out = machine.description() + "\n\n";
  if (findings.empty()) return out + "Nothing on this machine limits nigh.\n";
  int number = 0;
  for (auto const& finding : findings) {
    out += paragraph(fmt::format("{:>2}. ", ++number), finding.what);
    out += paragraph("    Why it matters: ", finding.why);
    out += paragraph("    What to do:     ", finding.what_to_do) + '\n';
  }
  return out + fmt::format("{} {}. None of them stops nigh from working.\n", findings.size(),
                           findings.size() == 1 ? "finding" : "findings");
}

template <class T>
nlohmann::ordered_json or_null(std::optional<T> const& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string as_json(topology const& machine, Facts const& facts,
                    std::vector<Finding> const& findings) {
  auto const& limits = facts.limits;
  auto const& probes = facts.probes;
  auto const reason = [](std::string const& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  };
  std::optional<std::uint64_t> periods, throttled;
  if (limits.throttling) {
    periods = limits.throttling->periods;
    throttled = limits.throttling->throttled;
  }
  nlohmann::ordered_json out;
  out["machine"] = machine.description();
  out["facts"] = {{"cpus_present", facts.cpus_present},
                  {"cpus_allowed", facts.cpus_allowed},
                  {"cores_allowed", facts.cores_allowed},
                  {"domains", facts.domains},
                  {"thread_pools", facts.pools},
                  {"nodes_with_memory", limits.nodes_with_memory},
                  {"nodes_allowed", limits.nodes_allowed},
                  {"cpu_quota", or_null(limits.cpu_quota)},
                  {"cpu_quota_periods", or_null(periods)},
                  {"cpu_quota_throttled", or_null(throttled)},
                  {"load", or_null(limits.load)},
                  {"runnable", or_null(limits.runnable)},
                  {"perf_event_paranoid", or_null(limits.perf_event_paranoid)},
                  {"numa_balancing", or_null(limits.numa_balancing)},
                  {"huge_pages", reason(limits.huge_pages)},
                  {"governor", reason(limits.governor)},
                  {"virtual_machine", limits.virtual_machine},
                  {"lockable_bytes", or_null(probes.lockable_bytes)},
                  {"hardware_counters_refused", reason(probes.hardware_counters)},
                  {"bind_memory_refused", reason(probes.bind_memory)},
                  {"locate_pages_refused", reason(probes.locate_pages)}};
  out["findings"] = nlohmann::ordered_json::array();
  for (auto const& finding : findings)
    out["findings"].push_back({{"id", finding.id},
                               {"what", finding.what},
                               {"why", finding.why},
                               {"what_to_do", finding.what_to_do}});
  return out.dump(2) + '\n';
}

}  // namespace

void add_doctor(CLI::App& app) {
  auto* command =
      app.add_subcommand("doctor", "Say what on this machine limits nigh, and what to do about it");
  auto const json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print facts and findings as JSON");
  command->callback([json] {
    auto const machine = topology::live();
    if (!machine) throw std::runtime_error(machine.message());
    Facts const facts = facts_of(*machine);
    auto const findings = diagnose(facts);
    std::string const out =
        *json ? as_json(*machine, facts, findings) : as_text(*machine, findings);
    std::fputs(out.c_str(), stdout);
  });
}

}  // namespace nigh::cli
