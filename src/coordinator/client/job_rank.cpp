// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/job_rank.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace nigh::coordinator {
namespace {

struct Launcher {
  char const* rank;
  char const* ranks;
  std::array<char const*, 2> job;  // together they name the job; null: the launcher names it
  char const* host = nullptr;  // the list that numbers this host's ranks; null: there is one list
};

// mpirun within a batch job inherits Slurm's variables, so Slurm comes last.
constexpr Launcher launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", {"PMIX_NAMESPACE", nullptr}},
    {"OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"OMPI_MCA_ess_base_jobid", nullptr}},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", {"PMI_JOBID", nullptr}},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", {nullptr, nullptr}},
    {"SLURM_LOCALID",
     "SLURM_STEP_TASKS_PER_NODE",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     "SLURM_NODEID"},
    {"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

// FNV-1a
std::uint64_t mixed(std::uint64_t hash, unsigned char byte) noexcept {
  return (hash ^ byte) * 0x100000001b3;
}

// The number at the beginning of the text; `behind` is the rest.
bool read(char const* text, std::uint32_t& into, char const** behind = nullptr) noexcept {
  if (text == nullptr) return false;
  auto const [end, failed] = std::from_chars(text, text + std::strlen(text), into);
  if (behind != nullptr) *behind = end;
  return failed == std::errc{};
}

// From "2(x3),1", Slurm's text for two on each of three hosts and one on the next: that of the nth
// host.
bool read_nth(char const* text, std::uint32_t nth, std::uint32_t& into) noexcept {
  while (read(text, into, &text)) {
    std::uint32_t times = 1;
    if (std::strncmp(text, "(x", 2) == 0 && (!read(text + 2, times, &text) || *text++ != ')'))
      return false;
    if (nth < times) return true;
    nth -= times;
    if (*text++ != ',') return false;
  }
  return false;
}

}  // namespace

JobRank rank_in_job(char* (*variable)(char const* name), std::uint64_t parent) noexcept {
  for (Launcher const& l : launchers) {
    JobRank found{.job = 0xcbf29ce484222325};
    std::uint32_t host = 0;
    if (l.host != nullptr) static_cast<void>(read(variable(l.host), host));
    if (!read(variable(l.rank), found.rank) || !read_nth(variable(l.ranks), host, found.ranks))
      continue;
    bool is_named = true;
    for (char const* part : l.job) {
      char const* const name = part != nullptr ? variable(part) : "";
      if (name == nullptr) is_named = false;
      for (char const* c = name; c != nullptr && *c != '\0'; ++c)
        found.job = mixed(found.job, static_cast<unsigned char>(*c));
      found.job = mixed(found.job, 0);
    }
    if (!is_named) continue;
    if (l.job[0] == nullptr)
      for (int i = 0; i < 8; ++i)
        found.job = mixed(found.job, static_cast<unsigned char>(parent >> (8 * i)));
    if (found.job == 0) found.job = 1;
    return found.ranks > 1 && found.is_valid() ? found : JobRank{};
  }
  return {};
}

bool is_rank(char* (*variable)(char const* name)) noexcept {
  for (Launcher const& l : launchers)
    if (variable(l.rank) != nullptr) return true;
  return false;
}

}  // namespace nigh::coordinator
