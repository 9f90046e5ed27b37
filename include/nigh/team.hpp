// SPDX-License-Identifier: Apache-2.0
#pragma once
// A team: some workers, near each other, that work on one block of a task loop (task_loop.hpp).

#include <nigh/detail/cxx20.hpp>

#include <concepts>
#include <nigh/parallel_for.hpp>

namespace nigh {

// Handed to the body of a task_loop by the team's leader, the worker that calls the body. The
// leader runs inner loops; the team's other members take part in these, and in nothing else of the
// block. So the leader alone runs the rest of the body.
//
// Inner loops are those of parallel_for.hpp, with its promises, and schedules are shares of the
// team's members. A member that is busy elsewhere is not waited for: the others do its part.
//
// From any other thread than the body's, and within an inner loop, a loop on the team runs in the
// calling thread alone.
class team {
 public:
  int size() const noexcept { return size_; }    // its workers, the leader among them
  int index() const noexcept { return index_; }  // 0 .. teams() - 1, neighbours side by side
  int teams() const noexcept { return teams_; }  // of the task loop

  template <std::integral First, std::integral Last, class Body>
  void parallel_for(First first, Last last, Body const& body, loop_options options = {}) const {
    options.members = this;
    nigh::parallel_for(first, last, body, options);
  }
  template <std::integral First, std::integral Last, class Body>
  void parallel_for(First first, Last last, Body const& body, schedule const& how) const {
    loop_options options;
    options.how = how;
    parallel_for(first, last, body, options);
  }
  template <std::size_t D, class Body>
  void parallel_for(box<D> const& all, Body const& body, loop_options options = {}) const {
    options.members = this;
    nigh::parallel_for(all, body, options);
  }
  template <std::size_t D, class Body>
  void parallel_for(box<D> const& all, Body const& body, schedule const& how) const {
    loop_options options;
    options.how = how;
    parallel_for(all, body, options);
  }
  template <detail::iterable R, class Body, detail::loop_choice How = loop_options>
  void parallel_for(R&& range, Body const& body, How const& how = {}) const {
    auto options = detail::options_near<loop_options>(range, how);
    options.members = this;
    nigh::parallel_for(range, body, options);
  }

  team(team const&) = delete;
  team& operator=(team const&) = delete;

 protected:
  team(int size, int index, int teams) noexcept : size_(size), index_(index), teams_(teams) {}
  ~team() = default;

 private:
  int size_, index_, teams_;
};

}  // namespace nigh
