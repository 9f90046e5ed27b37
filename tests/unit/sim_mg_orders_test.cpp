// SPDX-License-Identifier: Apache-2.0
// The statements of the text on multigrid, on the modelled machines; and that each rests on the
// reason that the model gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "machines.hpp"
#include "sim/mg/study.hpp"

namespace nigh::sim {
namespace {

template <class Change>
std::vector<MgStatement> stated(Machine const& machine, Change change) {
  auto cases = mg_cases(machine, mg_classes.back());
  for (MgCase& c : cases) change(c);
  int const all = static_cast<int>(machine.shape.cpus().size());
  return statements(study_mg(machine, cases, {1, all / 2, 3 * all / 4, all}, 1), machine);
}

bool holds(std::vector<MgStatement> const& all, std::string const& beginning) {
  auto const found = std::find_if(
      all.begin(), all.end(), [&](MgStatement const& s) { return s.text.starts_with(beginning); });
  EXPECT_NE(found, all.end()) << beginning;
  return found != all.end() && found->holds;
}

char const* const compact_stops = "compact stops scaling at the second socket";
char const* const dynamic_loads = "dynamic + compact loads socket 0 most";
char const* const interleaved = "scatter + interleave scales better than compact";
char const* const best_of_four = "and best of the four ways";
char const* const dynamic_best = "dynamic + scatter + interleave is best for OpenMP";

TEST(MgOrders, AreTheTexts) {
  for (char const* name : {"skylake-2x12", "xeon-e5-2630-2x8"}) {
    auto const all = stated(tests::machine(name), [](MgCase&) {});
    int held = 0;
    for (auto const& s : all) held += s.holds;
    EXPECT_GE(held, 15) << name << ": of " << all.size();
    for (char const* text : {compact_stops, dynamic_loads, dynamic_best})
      EXPECT_TRUE(holds(all, text));
    for (char const* framework : {" (OpenMP)", " (Cilk)", " (FastFlow)"}) {
      EXPECT_TRUE(holds(all, interleaved + std::string(framework)));
      EXPECT_TRUE(holds(all, best_of_four + std::string(framework)));
    }
  }
}

// With bandwidth for everybody and memory equally near, it does not matter where pages are.
TEST(MgOrders, NeedMemoryThatIsFarAndNarrow) {
  auto machine = tests::machine("skylake-2x12");
  machine.per_hop.value = 0;
  machine.controller_gb_per_s.value = machine.link_gb_per_s.value = 1e4;
  auto const all = stated(machine, [](MgCase&) {});
  EXPECT_FALSE(holds(all, compact_stops));
  EXPECT_FALSE(holds(all, "scatter + interleave scales better than compact (OpenMP)"));
}

// The second socket has little to do for want of its own pages, and interleaving helps for that.
TEST(MgOrders, NeedOneThreadThatTouchesMuch) {
  auto const own = stated(tests::machine("skylake-2x12"), [](MgCase& c) {
    c.first_thread = FirstThread::nothing;
    c.far_touch = 1;
  });
  EXPECT_FALSE(holds(own, compact_stops));
  EXPECT_FALSE(holds(own, best_of_four + std::string(" (FastFlow)")));

  auto const one =
      stated(tests::machine("skylake-2x12"), [](MgCase& c) { c.first_thread = FirstThread::all; });
  EXPECT_TRUE(holds(one, compact_stops));
  EXPECT_TRUE(holds(one, best_of_four + std::string(" (FastFlow)")));
  EXPECT_FALSE(holds(one, dynamic_loads)) << "all load it alike";
}

// That threads next to each other share what they read is all that dynamic loops gain.
TEST(MgOrders, NeedCaches) {
  auto const all = stated(tests::machine("skylake-2x12"), [](MgCase& c) { c.caches = false; });
  EXPECT_FALSE(holds(all, dynamic_best));
  EXPECT_FALSE(holds(all, "then dynamic misses the last cache less"));
  EXPECT_TRUE(holds(all, compact_stops));
}

}  // namespace
}  // namespace nigh::sim
