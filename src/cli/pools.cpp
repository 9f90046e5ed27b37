// SPDX-License-Identifier: Apache-2.0
#include "cli/pools.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "platform/affinity.hpp"
#include "platform/elf.hpp"
#include "platform/elf_functions.hpp"
#include "platform/process_usage.hpp"
#include "settings/thread_pools.hpp"

namespace nigh::cli {

std::string const& PoolNames::in_file(std::string const& file) {
  auto const [known, is_new] = by_file_.try_emplace(file);
  if (!is_new) return known->second;
  settings::LoadedFile loaded{file};
  loaded.holds_rayon = platform::is_true_of_file(file.c_str(), settings::holds_rayon);
  if (auto const elf = platform::read_elf(file))
    loaded.needs_openmp = std::any_of(elf->needed.begin(), elf->needed.end(), [](auto const& name) {
      return settings::is_openmp_runtime(name);
    });
  if (auto const* const pool = settings::pool_in(loaded)) known->second = pool->name;
  return known->second;
}

namespace {

bool keeps_to_its_cpus(coordinator::Status const& program) {
  auto const threads = platform::threads_of(static_cast<int>(program.pid));
  auto const holds = [&program](int cpu) { return program.holds.has(cpu); };
  return !threads.empty() && std::ranges::all_of(threads, [&holds](auto const& thread) {
    auto const cpus = platform::affinity_of_thread(thread.thread);
    return std::ranges::all_of(cpus, holds);  // none are those of a thread that has ended
  });
}

}  // namespace

std::vector<std::string> PoolNames::of(coordinator::Status const& program,
                                       coordinator::Status const& host) {
  auto const process = ProgramProcess::of(program);
  std::vector<std::string> names;
  auto const owner = process.owner();
  if (!owner || !owner->is_us) return names;
  auto const files = process.look([&] { return platform::mapped_code(process.identity.pid); });
  if (!files) return names;
  for (auto const& file : *files)
    if (auto const& name = in_file(file.string()); !name.empty()) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (!names.empty() && program.held < host.cpus &&
      process.look([&program] { return keeps_to_its_cpus(program); }).value_or(false))
    names.clear();
  return names;
}

std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + base::printable(name);
  return text;
}

}  // namespace nigh::cli
