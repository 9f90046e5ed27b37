// SPDX-License-Identifier: Apache-2.0
#pragma once
// Borders as messages of MPI_COMM_WORLD, straight from a block's memory into another's inbox.

#include <mpi.h>

#include <mutex>
#include <vector>

#include "jacobi2d/blocks.hpp"

namespace jacobi2d {

enum class Sending {
  early,  // as soon as the block is through, and moved on whenever another one is
  late,   // all at the iteration's end
};

// Needs MPI_THREAD_SERIALIZED: it calls MPI from any thread, from one at a time.
class MpiCourier : public Courier {
 public:
  explicit MpiCourier(Sending when) : when_(when) {}

  void expect(int rank, int tag, double* to, int doubles) noexcept override;
  void send(int rank, int tag, double const* from, int doubles) noexcept override;
  void progress() noexcept override;
  void finish() noexcept override;

 private:
  struct Message {
    int rank, tag;
    double const* from;
    int doubles;
  };
  void start(Message const& message) noexcept;

  Sending when_;
  std::mutex mutex_;
  std::vector<Message> waiting_;  // late ones
  std::vector<MPI_Request> requests_;
};

}  // namespace jacobi2d
