// SPDX-License-Identifier: Apache-2.0
#pragma once
// A variant whose loops are begun by one thread, and joined by it.

#include "npb_mg/plain_cycle.hpp"

namespace npb_mg {

// `Runtime` is a Loops (see PlainCycle) made from a Team and what else it asks for; its run(body)
// calls body() in the thread that begins loops.
template <class Runtime>
class OneCaller : public Variant {
 public:
  template <class... More>
  explicit OneCaller(Team const& team, More const&... more)
      : kernel_(*team.kernel), runtime_(team, more...) {}

  void clear(Fields& fields) override {
    runtime_.run([&] { PlainCycle<Runtime>::clear(runtime_, fields); });
  }
  Outcome solve(Fields& fields, Weights const& smoother, int iterations) override {
    Outcome outcome;
    PlaneSums sums(fields.finest().n);
    runtime_.run(
        [&] { outcome = PlainCycle(runtime_, fields, kernel_, smoother, sums).solve(iterations); });
    return outcome;
  }
  Runtime const& runtime() const noexcept { return runtime_; }

 private:
  Kernel const& kernel_;
  Runtime runtime_;
};

template <class Runtime>
std::unique_ptr<Variant> make_one_caller(Team const& team) {
  return std::make_unique<OneCaller<Runtime>>(team);
}

}  // namespace npb_mg
