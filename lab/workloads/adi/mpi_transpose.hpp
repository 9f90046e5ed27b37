// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines become columns across the processes of MPI_COMM_WORLD.

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "adi/solver.hpp"

namespace adi {

class MpiTranspose {
 public:
  MpiTranspose(int n, int rank, int ranks);

  void operator()(Lines const& from, Lines& to);

 private:
  struct Part {
    int begin, end;  // lines of a process
    int size() const noexcept { return end - begin; }
  };

  Part part(int rank) const noexcept;
  void pack(Lines const& from, int rank) noexcept;
  void unpack(Lines& to, int rank) const noexcept;

  int n_, rank_, ranks_;
  std::vector<double> sent_, received_;
  std::vector<int> counts_, offsets_;  // by process; sent and received alike
};

inline MpiTranspose::MpiTranspose(int n, int rank, int ranks) : n_(n), rank_(rank), ranks_(ranks) {
  int total = 0;
  for (int other = 0; other < ranks; ++other) {
    counts_.push_back(part(rank).size() * part(other).size());
    offsets_.push_back(total);
    total += counts_.back();
  }
  sent_.resize(static_cast<std::size_t>(total));
  received_.resize(sent_.size());
}

inline MpiTranspose::Part MpiTranspose::part(int rank) const noexcept {
  return {first_line(n_, rank, ranks_), first_line(n_, rank + 1, ranks_)};
}

// For the other process line by line: of its line l, the points that I have.
inline void MpiTranspose::pack(Lines const& from, int rank) noexcept {
  Part const mine = part(rank_), other = part(rank);
  double* const to = sent_.data() + offsets_[static_cast<std::size_t>(rank)];
#pragma omp parallel for schedule(static)
  for (int l = other.begin; l < other.end; ++l)
    for (int i = mine.begin; i < mine.end; ++i)
      to[(l - other.begin) * mine.size() + (i - mine.begin)] = from.line(i)[l];
}

inline void MpiTranspose::unpack(Lines& to, int rank) const noexcept {
  Part const mine = part(rank_), other = part(rank);
  double const* const from = received_.data() + offsets_[static_cast<std::size_t>(rank)];
#pragma omp parallel for schedule(static)
  for (int l = mine.begin; l < mine.end; ++l)
    for (int i = other.begin; i < other.end; ++i)
      to.line(l)[i] = from[(l - mine.begin) * other.size() + (i - other.begin)];
}

inline void MpiTranspose::operator()(Lines const& from, Lines& to) {
  for (int rank = 0; rank < ranks_; ++rank) pack(from, rank);
  MPI_Alltoallv(sent_.data(), counts_.data(), offsets_.data(), MPI_DOUBLE, received_.data(),
                counts_.data(), offsets_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks_; ++rank) unpack(to, rank);
}

// of all processes, known to all
inline Result combined(Result const& mine) {
  Result all;
  MPI_Allreduce(&mine.error, &all.error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&mine.checksum, &all.checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace adi
