// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checkpoints: values that outlive the rank that made them, so that work goes on from its last step
// when a rank is lost.
//
//   std::vector<double> simulate(long steps) {
//     std::vector<double> grid(cells);
//     long step = 0;
//     if (auto kept = nigh::cluster::last_checkpoint<std::vector<double>>("grid")) {
//       step = kept->step;
//       grid = std::move(kept->value);
//     }
//     while (step < steps) {
//       advance(grid);
//       if (++step % 100 == 0) nigh::cluster::checkpoint("grid", step, grid);
//     }
//     return grid;
//   }
//
// A name stands for one value of the whole session, whichever rank calls. All three functions are
// called inside tasks of nigh::cluster::run(), by any number of them at a time; the task waits, and
// its worker runs other tasks meanwhile. They throw std::logic_error elsewhere and inside an
// mpi_section, and std::length_error for a name of more than 255 bytes. A task that goes on after its run is over,
// since its rank's loss made it useless, does not wait.
//
// Checkpoints last until the session ends or they are forgotten, whatever number of runs there are.
// docs/cluster-faults.md#checkpoints

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nigh/cluster.hpp>
#include <nigh/detail/cluster_pack.hpp>
#include <nigh/detail/export.hpp>
#include <optional>
#include <string_view>
#include <typeinfo>

namespace nigh::cluster {

// A value, and the step at which it was kept.
template <class T>
struct kept_checkpoint {
  std::int64_t step;
  T value;
};

namespace detail {

NIGH_API void keep_checkpoint(std::string_view name, std::int64_t step, bytes content);
NIGH_API void check_checkpoint(std::string_view name, std::size_t value_bytes);
struct found_checkpoint {
  std::int64_t step = 0;
  std::shared_ptr<bytes const> content;  // null: there is none
};
NIGH_API found_checkpoint find_checkpoint(std::string_view name);
[[noreturn]] NIGH_API void refuse_checkpoint(std::string_view name);

// Types have the same names in all ranks, since these run the same program.
template <class T>
std::uint64_t type_mark() noexcept {
  return typeid(T).hash_code();
}

}  // namespace detail

// Keeps a copy of the value in this rank and in two others, of other hosts if possible, and returns
// when they have it; where fewer ranks are left, when all of them have it. Where tasks are not
// supervised, and so no rank survives another, this rank's copy is the only one.
//
// The newest step of a name counts: the call does nothing where this rank knows a later one, or the
// same. Until the copies are complete those of the step before are kept, too. The value should
// follow from name and step: of tasks that are run again, any may be the one that keeps it.
//
// T: what a task of the cluster may have as an argument. std::length_error: more than 1 GiB.
template <detail::packable T>
void checkpoint(std::string_view name, std::int64_t step, T const& value) {
  auto const size = detail::packed_size(value);
  detail::check_checkpoint(name, size);
  detail::bytes content(sizeof(std::uint64_t) + size);
  detail::packer to(content.data());
  to.put(detail::type_mark<T>());
  to.put(value);
  detail::keep_checkpoint(name, step, std::move(content));
}

// The newest step of that name that any of the ranks that are left has, or nothing. A step whose
// checkpoint() has returned is there, or a later one, as long as one of its three ranks is left.
// After a loss the others see to it that three have it again. std::logic_error: the value is of
// another type.
template <detail::packable T>
std::optional<kept_checkpoint<T>> last_checkpoint(std::string_view name) {
  auto const found = detail::find_checkpoint(name);
  if (!found.content) return std::nullopt;
  detail::unpacker from(*found.content);
  if (from.get<std::uint64_t>() != detail::type_mark<T>()) detail::refuse_checkpoint(name);
  return kept_checkpoint<T>{found.step, from.get<T>()};
}

// Drops all copies, in all ranks. After it the name may begin anew, with any step.
NIGH_API void forget_checkpoint(std::string_view name);

}  // namespace nigh::cluster
