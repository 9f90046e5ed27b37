// SPDX-License-Identifier: Apache-2.0
// The same requests under MPI alone on this machine, without nigh.

#include <mpi.h>

#include <array>
#include <cstddef>

#include "bench/cluster/busy_victim.hpp"
#include "bench/options.hpp"
#include "bench/pin.hpp"

namespace bench {

namespace {

using Message = std::array<std::byte, 64>;

MPI_Request receive_from(int rank, Message& message) {
  MPI_Request request;
  MPI_Irecv(message.data(), sizeof message, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request);
  return request;
}

void send(int to, Message const& message) {
  MPI_Send(message.data(), sizeof message, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

bool has_come(MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void answer(TaskLog& log, double task_us, int answers) {
  Message message{};
  for (int n = 0; n < answers; ++n) {
    auto request = receive_from(1, message);
    do log.compute(task_us);
    while (!has_come(request));
    send(1, message);
  }
}

struct Times {
  std::vector<std::int64_t> asked, answered;
};

// It runs a task for each answer, so requests come at any time of the victim's.
Times ask(TaskLog& log, double task_us, int answers) {
  Times times;
  Message message{};
  for (int n = 0; n < answers; ++n) {
    auto request = receive_from(0, message);
    times.asked.push_back(now_ns());
    send(0, message);
    while (!has_come(request)) continue;
    times.answered.push_back(now_ns());
    log.compute(task_us);
  }
  return times;
}

}  // namespace

Delays plain_victim(double task_us, int answers) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const cpus = live_machine().order(nigh::cpu_order::compact, nigh::level::domain);
  pin_this_thread(cpus[static_cast<std::size_t>(rank) % cpus.size()]);
  TaskLog log;
  Times mine;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) answer(log, task_us, answers);
  if (rank == 1) mine = ask(log, task_us, answers);
  auto const asked = from_rank_1(mine.asked), answered = from_rank_1(mine.answered);
  bool const one_clock = have_one_clock();
  Delays all;
  for (std::size_t i = 0; i < asked.size(); ++i)
    add(all, asked[i], answered[i],
        one_clock ? log.end_of_task_at(asked[i])
                  : asked[i] + static_cast<std::int64_t>(task_us * 1e3));
  return all;
}

}  // namespace bench
