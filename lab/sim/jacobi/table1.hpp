// SPDX-License-Identifier: Apache-2.0
#pragma once
// Table 1 of Wittmann and Hager, "A proof of concept for optimizing task parallelism by locality
// queues" (2009): a 3D Jacobi sweep in blocks, each a task, on four domains of two cores. The rules
// are those of the OpenMP runtimes of 2009 and of the paper, not nigh's.
//
//   one thread submits   up to most_waiting tasks wait; beyond, it runs one itself: the newest
//   the others           take the oldest
//   with locality queues a block waits in the queue of its domain, and a task runs the first block
//                        of its thread's domain, or of the next domain that has one

#include <array>
#include <cstdint>

#include "sim/machine.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

struct Jacobi2009Tasks {
  bool queues = false;       // locality queues
  bool j_outermost = false;  // order of submission: jki, else kji
  bool round_robin = false;  // pages first touched by loop schedule static,1, else static
  int layers = 60;
  int most_waiting = 256;  // tasks
  // Choices that the paper did not make; with these the model must miss.
  bool oldest_first = false;  // the submitter, too, runs the oldest
  bool scatter = false;       // thread t in domain t mod 4, instead of t / 2
};

// Million lattice site updates a second, of one sweep.
double jacobi_mlups(Machine const& machine, Jacobi2009Tasks const& what, std::uint64_t seed,
                    LostStep lost = {});

struct Table1Cell {
  Jacobi2009Tasks what;
  double published = 0;  // MLUP/s
};

inline constexpr std::array<Table1Cell, 8> table1{{{{false, false, false}, 149.8},
                                                   {{false, true, false}, 247.9},
                                                   {{true, false, false}, 180.8},
                                                   {{true, true, false}, 598.2},
                                                   {{false, false, true}, 205.9},
                                                   {{false, true, true}, 412.7},
                                                   {{true, false, true}, 588.4},
                                                   {{true, true, true}, 594.6}}};

}  // namespace nigh::sim
