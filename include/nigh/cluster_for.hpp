// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster::parallel_for: blocks of indices as tasks of any rank, or of the ranks that own them.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <nigh/cluster.hpp>
#include <nigh/loop_options.hpp>
#include <type_traits>
#include <utility>

namespace nigh::cluster {

// The indices from first to last, in blocks of `size`, the last one perhaps smaller.
struct blocks {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size = 1;

  constexpr std::size_t count() const noexcept {
    return last > first ? (last - first - 1) / std::max<std::size_t>(size, 1) + 1 : 0;
  }
  // Those from block `from` to block `to`.
  constexpr blocks part(std::size_t from, std::size_t to) const noexcept {
    auto const step = std::max<std::size_t>(size, 1);
    return {first + from * step, to < count() ? first + to * step : last, step};
  }
};

namespace detail {

template <auto F, class Signature = decltype(F)>
struct over_blocks;
template <auto F, class R, class Range, class... P>
struct over_blocks<F, R (*)(Range, P...)> {
  static void run(blocks all, kept_of<P> const&... arguments) {
    task_scope scope;
    while (all.count() > 1) {
      auto const middle = all.count() / 2;
      scope.spawn<&run>(all.part(middle, all.count()), arguments...);
      all = all.part(0, middle);
    }
    if (all.count() == 1) F(index_range{all.first, all.last}, arguments...);
    scope.wait();
  }
  template <class... A>
  static void begin(blocks all, A const&... arguments) {
    static_assert(sizeof...(A) == sizeof...(P),
                  "cluster::parallel_for gets as many arguments as its function has behind the range");
    run(all, for_keeping<kept_of<P>>(arguments)...);
  }
};
template <auto F, class R, class... P>
struct over_blocks<F, R (*)(P...) noexcept> : over_blocks<F, R (*)(P...)> {};

}  // namespace detail

// Calls F(index_range, arguments...) once for each block, and returns when all have returned. For
// tasks of a session; elsewhere the blocks are run one after the other. The range is halved again
// and again, so that other ranks take large parts; arguments are copied for each half. Exceptions
// as from task_scope::wait().
template <auto F, class... A>
void parallel_for(blocks all, A const&... arguments) {
  detail::over_blocks<F>::begin(all, arguments...);
}

// owner(block) is the rank whose data a block needs: it runs there, unless other ranks have no
// work. Neighbouring blocks of one owner travel together.
template <auto F, class Owner, class... A>
  requires(std::is_invocable_r_v<int, Owner const&, std::size_t>)
void parallel_for(blocks all, Owner const& owner, A const&... arguments) {
  task_scope scope;
  for (std::size_t from = 0, to = 0; from < all.count(); from = to) {
    int const rank = owner(from);
    for (to = from + 1; to < all.count() && owner(to) == rank;) ++to;
    scope.spawn<&detail::over_blocks<F>::run>(near(rank), all.part(from, to), arguments...);
  }
  scope.wait();
}

}  // namespace nigh::cluster
