// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which launcher started this process as one of several? Found from its environment variables: a
// rank that MPI takes for the only one was started by another MPI's launcher.

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace nigh::cluster::mpi {

// Empty: none, or it started one process only. `mpi` is the library's name.
template <class GetEnv>
std::string launcher_of_others(GetEnv get_env, std::string_view mpi) {
  struct Launcher {
    char const* variable;  // holds the number of processes
    std::string_view name;
  };
  constexpr std::array<Launcher, 4> launchers{{
      {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
      {"PMI_SIZE", "MPICH's mpiexec (hydra), or one like it"},
      {"MPI_LOCALNRANKS", "MPICH's mpiexec (hydra), or one like it"},
      {"SLURM_STEP_NUM_TASKS", "Slurm's srun"},
  }};
  for (auto const& l : launchers) {
    char const* const text = get_env(l.variable);
    if (text == nullptr || std::atoi(text) < 2) continue;
    std::string said(l.name);
    said += " (" + std::string(l.variable) + " is " + text + ")";
    if (l.name == "Slurm's srun")
      said += mpi.starts_with("Open MPI") ? ", without --mpi=pmix" : ", without --mpi=pmi2";
    return said;
  }
  return {};
}

}  // namespace nigh::cluster::mpi
