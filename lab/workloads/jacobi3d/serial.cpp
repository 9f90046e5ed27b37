// SPDX-License-Identifier: Apache-2.0
// One thread, block after block.
#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

class Serial : public Variant {
 public:
  void sweep(Sweep const& s) override {
    for (int const block : s.plan->submission) s.run(block);
  }
};

}  // namespace

void add_serial(std::vector<VariantInfo>& list) {
  list.push_back({"serial",
                  true,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    team.pin_thread(0);
                    return std::make_unique<Serial>();
                  },
                  {}});
}

}  // namespace jacobi3d
