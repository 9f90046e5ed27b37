// SPDX-License-Identifier: Apache-2.0
#pragma once
// MPI as plain programs use it beside a session: one process speaks for all.

#include <cstdint>
#include <vector>

namespace bench {

class MpiProcesses {
 public:
  // Standard error is silent in all but the first, for all would complain of the same.
  MpiProcesses(int& argc, char**& argv);
  ~MpiProcesses();
  MpiProcesses(MpiProcesses const&) = delete;
  MpiProcesses& operator=(MpiProcesses const&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  void speak_again();  // from here on, what goes wrong is each one's own

  // Collective.
  void wait_for_all() const;
  double longest(double seconds) const;
  // Rank 0 gets all ranks' numbers, one rank's behind the other's; others get nothing.
  std::vector<std::uint64_t> gather(std::vector<std::uint64_t> const& mine) const;

 private:
  int rank_ = 0, size_ = 1;
  int errors_ = -1;  // where standard error went
};

}  // namespace bench
