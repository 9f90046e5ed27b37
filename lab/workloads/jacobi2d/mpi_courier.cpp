// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/mpi_courier.hpp"

namespace jacobi2d {

void MpiCourier::expect(int rank, int tag, double* to, int doubles) noexcept {
  std::lock_guard const lock(mutex_);
  requests_.emplace_back();
  MPI_Irecv(to, doubles, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &requests_.back());
}

void MpiCourier::send(int rank, int tag, double const* from, int doubles) noexcept {
  std::lock_guard const lock(mutex_);
  Message const message{rank, tag, from, doubles};
  if (when_ == Sending::early)
    start(message);
  else
    waiting_.push_back(message);
}

// Where nobody calls MPI, long messages do not move. Nobody waits to do that: the next block is as
// good.
void MpiCourier::progress() noexcept {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || when_ == Sending::late) return;
  int all_done = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_done, MPI_STATUSES_IGNORE);
}

void MpiCourier::finish() noexcept {
  std::lock_guard const lock(mutex_);
  for (Message const& m : waiting_) start(m);
  waiting_.clear();
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

void MpiCourier::start(Message const& m) noexcept {
  requests_.emplace_back();
  MPI_Isend(m.from, m.doubles, MPI_DOUBLE, m.rank, m.tag, MPI_COMM_WORLD, &requests_.back());
}

}  // namespace jacobi2d
