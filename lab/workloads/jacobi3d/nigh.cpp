// SPDX-License-Identifier: Apache-2.0
// One nigh task a block, spawned near the block's domain by one worker.
#include <nigh/runtime.hpp>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

template <nigh::locality mode>
class LocalityQueues : public Variant {
 public:
  explicit LocalityQueues(Team const& team) : runtime_(options(team)) {}

  void sweep(Sweep const& s) override {
    runtime_.run([this, &s] {
      for (int const block : s.plan->submission)
        runtime_.spawn(
            nigh::near(s.plan->home[static_cast<std::size_t>(block)], s.plan->bytes_of(block)),
            [&s, block] { s.run(block); });
    });
  }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    o.mode = mode;
    o.pending_limit = team.pending_limit;
    return o;
  }

  nigh::runtime runtime_;
};

template <nigh::locality mode>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<LocalityQueues<mode>>(team);
}

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/queues", true, make<nigh::locality::prefer>, {}});
  list.push_back({"nigh/queues-strict", true, make<nigh::locality::strict>, {}});
}

}  // namespace jacobi3d
