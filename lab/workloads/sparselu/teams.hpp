// SPDX-License-Identifier: Apache-2.0
#pragma once
// The same with a task loop over the rows of blocks that a step updates, a team on each row. No two
// steps have the same work.

#include <nigh/task_loop.hpp>

#include "sparselu/matrix.hpp"

namespace sparselu {

void solve_on_teams(Matrix& matrix, nigh::task_loop_options const& options);

}  // namespace sparselu
