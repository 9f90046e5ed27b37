// SPDX-License-Identifier: Apache-2.0
// nigh's workers on blocks: each block is a task of one worker.
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>

#include "jacobi2d/variant.hpp"

namespace jacobi2d {

namespace {

nigh::runtime_options options(Team const& team) {
  nigh::runtime_options o;
  o.machine = team.machine;
  o.workers = team.threads();
  if (team.pin != nullptr) {
    o.cpus = team.cpus;
    return o;
  }
  o = nigh::options_from_environment(o);  // somebody else's settings
  o.workers = team.threads();
  return o;
}

class Tasks : public Variant {
 public:
  explicit Tasks(Team const& team) : runtime_(options(team)) { loop_.how = nigh::local_schedule(); }

  void inside(std::function<void()> const& body) override { runtime_.run(body); }
  void run(Work& work) override {
    nigh::parallel_for(
        0, work.blocks(),
        [&](int block) {
          work.begin(block);
          for (int step = 0; step < work.steps(); ++step) work.rows(block, step, 0, work.points());
          work.end(block);
        },
        loop_);
  }

 private:
  nigh::runtime runtime_;
  nigh::loop_options loop_;
};

}  // namespace

void add_nigh(std::vector<VariantInfo>& list) {
  list.push_back(
      {"nigh/tasks",
       false,
       false,
       [](Team const& team) -> std::unique_ptr<Variant> { return std::make_unique<Tasks>(team); },
       {}});
}

}  // namespace jacobi2d
