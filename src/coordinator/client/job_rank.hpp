// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which rank of an MPI program this process is, on this host, as its launcher says in the
// environment: Open MPI, MPICH and Intel MPI (hydra), Slurm.

#include <cstdint>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

// `variable` looks one up (getenv), null: it is not set. `parent`: the process that started this
// one, which launchers that number no job share among the ranks of one. A program of one rank is as
// good as none.
JobRank rank_in_job(char* (*variable)(char const* name), std::uint64_t parent) noexcept;

}  // namespace nigh::coordinator
