// SPDX-License-Identifier: Apache-2.0
// A nigh loop over the rows of blocks, by several schedules.
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

template <nigh::schedule_kind kind>
class Loop : public Variant {
 public:
  explicit Loop(Team const& team) : runtime_(options(team)) {
    how_.how = nigh::schedule(kind, 1);
    how_.where = &runtime_;
  }

  void sweep(Sweep const& s) override {
    Blocks const& blocks = s.plan->blocks;
    Extent const along = blocks.along();
    nigh::box<2> const rows{{0, 0},
                            {static_cast<std::size_t>(along.k), static_cast<std::size_t>(along.j)}};
    nigh::parallel_for(
        rows,
        [&](std::size_t kb, std::size_t jb) {
          for (std::ptrdiff_t ib = 0; ib < along.i; ++ib)
            s.run(blocks.number(ib, static_cast<std::ptrdiff_t>(jb),
                                static_cast<std::ptrdiff_t>(kb)));
        },
        how_);
  }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    return o;
  }

  nigh::runtime runtime_;
  nigh::loop_options how_;
};

template <nigh::schedule_kind kind>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<Loop<kind>>(team);
}

}  // namespace

void add_nigh_loops(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/loop-static", false, make<nigh::schedule_kind::static_blocks>, {}});
  list.push_back({"nigh/loop-local", false, make<nigh::schedule_kind::local>, {}});
  list.push_back({"nigh/loop-adaptive", false, make<nigh::schedule_kind::adaptive>, {}});
}

}  // namespace jacobi3d
