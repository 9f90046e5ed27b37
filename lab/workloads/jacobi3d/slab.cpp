// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/slab.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <nigh/cluster.hpp>
#include <nigh/parallel_for.hpp>
#include <utility>

namespace jacobi3d {

namespace {

constexpr std::size_t cache_line = 64;

std::ptrdiff_t begin_of(std::ptrdiff_t planes, int rank, int ranks) {
  return planes * rank / ranks;
}

}  // namespace

Slab::Slab(Extent const& interior, nigh::cluster::session& ranks)
    : ranks_(ranks),
      grid_(interior),
      kernel_(*find_kernel("", false)),
      first_(begin_of(interior.k, ranks.rank(), ranks.ranks())),
      end_(begin_of(interior.k, ranks.rank() + 1, ranks.ranks())),
      now_(reserve()),
      next_(reserve()) {}

Slab::Field Slab::reserve() const {
  auto const bytes = (grid_.elements() * sizeof(double) + cache_line - 1) / cache_line * cache_line;
  auto* const memory = static_cast<double*>(std::aligned_alloc(cache_line, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return Field(memory);
}

double* Slab::plane(std::ptrdiff_t k) const noexcept {
  return now_.get() + grid_.at(-Grid::line, -1, k);
}

void Slab::fill() {
  ranks_.workers().run([this] {
    nigh::parallel_for(first_ - 1, end_ + 1, [this](std::ptrdiff_t k) {
      fill_planes(grid_, now_.get(), k, k + 1);
      fill_planes(grid_, next_.get(), k, k + 1);
    });
  });
}

void Slab::sweep_planes(std::ptrdiff_t from, std::ptrdiff_t to) {
  if (from >= to) return;
  ranks_.workers().run([=, this] {
    nigh::parallel_for(from, to, [this](std::ptrdiff_t k) {
      kernel_.sweep_block(grid_, now_.get(), next_.get(),
                          {{0, 0, k}, {grid_.interior.i, grid_.interior.j, k + 1}});
    });
  });
}

void Slab::sweep(int times) {
  int const below = ranks_.rank() > 0 ? ranks_.rank() - 1 : MPI_PROC_NULL;
  int const above = ranks_.rank() + 1 < ranks_.ranks() ? ranks_.rank() + 1 : MPI_PROC_NULL;
  int const count = static_cast<int>(grid_.plane_pitch);
  enum Tag : int { up, down };
  for (; times > 0; --times) {
    std::array<MPI_Request, 4> requests;
    {
      nigh::cluster::mpi_section const section;
      MPI_Irecv(plane(first_ - 1), count, MPI_DOUBLE, below, up, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(plane(end_), count, MPI_DOUBLE, above, down, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(plane(first_), count, MPI_DOUBLE, below, down, MPI_COMM_WORLD, &requests[2]);
      MPI_Isend(plane(end_ - 1), count, MPI_DOUBLE, above, up, MPI_COMM_WORLD, &requests[3]);
    }
    sweep_planes(first_ + 1, end_ - 1);
    {
      nigh::cluster::mpi_section const section;
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
    sweep_planes(first_, first_ + 1);
    sweep_planes(std::max(first_ + 1, end_ - 1), end_);
    std::swap(now_, next_);
  }
}

std::uint64_t Slab::checksum() {
  std::uint64_t const mine = checksum_planes(grid_, now_.get(), first_, end_);
  std::uint64_t all = 0;
  nigh::cluster::mpi_section const section;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace jacobi3d
