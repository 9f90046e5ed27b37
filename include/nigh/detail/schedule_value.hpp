// SPDX-License-Identifier: Apache-2.0
#pragma once
// nigh::schedule and the functions that make one; <nigh/schedule.hpp> adds its text.

#include <cstddef>
#include <cstdint>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_edges.hpp>
#include <utility>

namespace nigh {

enum class schedule_kind : std::uint8_t {
  static_blocks,  // one block for each worker
  static_chunks,  // chunks, dealt out to the workers in turn
  dynamic,        // chunks, to each worker that asks
  guided,         // large pieces first, then smaller and smaller ones, to each worker that asks
  adaptive,  // a block for each worker; a worker with nothing left takes half of another's rest
  local,     // the same, but blocks are near their data, and the nearest workers are asked first
};

namespace policy {
class LocalMap;
}
namespace detail {

class placed_block;

struct kept_map {
  policy::LocalMap const* map;
  void (*destroy)(kept_map* self) noexcept;  // by the last user
  use_count users{1};
};

// One use of a map that schedules share.
class shared_map {
 public:
  shared_map() = default;
  explicit shared_map(kept_map* made) noexcept : map_(made) {}  // takes over its first use
  shared_map(shared_map const& other) noexcept : map_(other.map_) {
    if (map_ != nullptr) map_->users.retain();
  }
  shared_map(shared_map&& other) noexcept : map_(std::exchange(other.map_, nullptr)) {}
  shared_map& operator=(shared_map other) noexcept {
    std::swap(map_, other.map_);
    return *this;
  }
  ~shared_map() {
    if (map_ != nullptr && map_->users.release()) map_->destroy(map_);
  }

  policy::LocalMap const* get() const noexcept { return map_ != nullptr ? map_->map : nullptr; }
  explicit operator bool() const noexcept { return map_ != nullptr; }

 private:
  kept_map* map_ = nullptr;
};

}  // namespace detail

template <class T>
class array;

// Made by the functions below. Cheap to copy, and usable in any number of loops at once.
class schedule {
 public:
  schedule_kind kind() const noexcept { return kind_; }
  std::size_t chunk() const noexcept { return chunk_; }                // of guided: the smallest
  policy::LocalMap const* map() const noexcept { return map_.get(); }  // null: evenly

  // For the functions below; chunk is at least 1.
  schedule(schedule_kind kind, std::size_t chunk, detail::shared_map map = {})
      : map_(std::move(map)), chunk_(chunk), kind_(kind) {}

 private:
  detail::shared_map map_;
  std::size_t chunk_;
  schedule_kind kind_;
};

// A chunk of 0 iterations is refused with std::invalid_argument.

// Iterations [0, n) in as many blocks as there are workers, whose sizes differ by at most one. A
// worker gets the same block in every loop of that size. Only while a worker has not come yet,
// another one that has finished its own block runs that block, too: no loop waits for a sleeper.
NIGH_API schedule static_schedule();
// Chunk c goes to worker c modulo workers.
NIGH_API schedule static_schedule(std::size_t chunk);
NIGH_API schedule dynamic_schedule(std::size_t chunk = 1);
// Each takes its share of half of the rest, at least `smallest` iterations.
NIGH_API schedule guided_schedule(std::size_t smallest = 1);
// A worker takes an eighth of the rest of its block; a worker with an empty block takes half of
// another's rest. There is no grain to choose.
NIGH_API schedule adaptive_schedule();
// Iterations are divided among domains, one block each, and within each among the workers; then as
// adaptive, first within the domain, then across domains, nearest first.
NIGH_API schedule local_schedule();

namespace detail {
// Null: one domain, or no rule.
NIGH_API shared_map map_of(placed_block const& memory, std::size_t bytes_per_iteration);
}  // namespace detail

// The same, but a domain's iterations are those whose pages lie there, by the array's placement:
// iteration i uses the elements from i * elements_per_iteration on (the loop over the planes of a
// grid has a plane there). Iterations beyond the array's end go to the domain of its last element.
// As local_schedule() for arrays placed by first touch, whose pages lie where a loop with the same
// schedule first wrote them, and for arrays of more than 65,536 pieces (a page each for
// interleave). Computed here, not in the loop: make it once.
template <class T>
schedule local_schedule(array<T> const& a, std::size_t elements_per_iteration = 1) {
  return {schedule_kind::local, 1,
          detail::map_of(a.placed(),
                         sizeof(T) * (elements_per_iteration == 0 ? 1 : elements_per_iteration))};
}

}  // namespace nigh
