// SPDX-License-Identifier: Apache-2.0
// One thread, block after block.
#include "jacobi2d/variant.hpp"

namespace jacobi2d {

namespace {

class Serial : public Variant {
 public:
  void run(Work& work) override {
    for (int block = 0; block < work.blocks(); ++block) {
      work.begin(block);
      for (int step = 0; step < work.steps(); ++step) work.rows(block, step, 0, work.points());
      work.end(block);
    }
  }
};

}  // namespace

void add_serial(std::vector<VariantInfo>& list) {
  list.push_back({.name = "serial", .make = [](Team const& team) -> std::unique_ptr<Variant> {
                    team.pin_thread(0);
                    return std::make_unique<Serial>();
                  }});
}

}  // namespace jacobi2d
