// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which rank of an MPI program this process is, on this host, as its launcher says in the
// environment: Open MPI, MPICH and Intel MPI (hydra), Slurm.

#include <cstdint>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

// `variable` looks up a variable (getenv); null: it is not set. `parent`: the process that started
// this one; launchers that do not number jobs have one parent for all ranks of a job. A program of
// one rank counts as no MPI program.
JobRank rank_in_job(char* (*variable)(char const* name), std::uint64_t parent) noexcept;

// Has one of these launchers started this process, be it as the only rank?
bool is_rank(char* (*variable)(char const* name)) noexcept;

}  // namespace nigh::coordinator
