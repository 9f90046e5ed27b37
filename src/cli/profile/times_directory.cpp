// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/times_directory.hpp"

#include <random>
#include <stdexcept>
#include <system_error>

#include "cli/run/launch_plan.hpp"
#include "platform/own_path.hpp"
#include "platform/temporary_folder.hpp"
#include "policy/cpus/thread_order.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;

TimesDirectory::TimesDirectory()
    : path_(platform::temporary_folder() / ("nigh-times." + std::to_string(std::random_device{}()))) {
  if (auto const made = platform::make_new_directory(path_); !made)
    throw std::runtime_error(path_.string() + ": " + made.message());
}

TimesDirectory::~TimesDirectory() {
  std::error_code failed;
  fs::remove_all(path_, failed);
}

// A program that divides its work by omp_get_max_threads() is to find the team's size there. The
// user's numbers for nested regions stay.
std::vector<std::string> TimesDirectory::variables(int team) const {
  auto const size = std::to_string(team);
  auto const said = from_environment("OMP_NUM_THREADS").value_or("");
  auto const nested = said.find(',') == said.npos ? "" : said.substr(said.find(','));
  return {"OMP_NUM_THREADS=" + size + nested, "NIGH_OPENMP_TEAM=" + size,
          "NIGH_OPENMP_TIMES=" + (path_ / "times").string()};
}

std::string study_cpus(topology const& machine) {
  std::string order;
  for (int const cpu : policy::thread_order(machine, cpu_order::compact))
    order += (order.empty() ? "" : ",") + std::to_string(cpu);
  return "NIGH_OPENMP_CPUS=" + order;
}

}  // namespace nigh::cli
