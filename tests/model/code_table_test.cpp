// SPDX-License-Identifier: Apache-2.0
#include "openmp/code_table.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Facts {
  std::uint64_t of, age;
};

constexpr std::uint32_t old = 1, present = 2;

struct Shared {
  void add(std::uint64_t code, std::uint32_t age) { table.add(code, {code, age}, age); }

  bool find(std::uint64_t code) {
    Facts found{};
    if (!table.find(code, present, found)) return false;
    check(found.of == code && found.age == present, "what is found is whole, and of the age asked for");
    return true;
  }

  openmp::CodeTable<Facts, 4> table;
};

// Into an empty entry, and into one whose facts are old.
Scenario added() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    s->add(7, old);
    run.threads = {[s] {
                     s->add(7, present);
                     s->add(8, present);
                   },
                   [s] {
                     s->find(8);
                     s->find(7);
                   }};
    run.at_end = [s] { check(s->find(7) && s->find(8), "what one thread alone adds is there"); };
  };
}

// The table is replaced under the reader, which finds what is known in the one or the other.
Scenario grows() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    s->add(7, present);
    s->add(8, old);
    run.threads = {[s] { s->add(9, present); },
                   [s] {
                     check(s->find(7), "what was known stays known");
                     s->find(9);
                   }};
    run.at_end = [s] { check(s->find(7) && s->find(9) && !s->find(8), "only old facts are left out"); };
  };
}

// The one that finds the table locked adds nothing.
Scenario both_add() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] { s->add(7, present); }, [s] { s->add(8, present); }};
    run.at_end = [s] { check(s->find(7) || s->find(8), "one of two is added"); };
  };
}

TEST(CodeTable, HoldsWhatIsAdded) {
  expect_holds(added(), {.preemptions = 3});
  expect_holds(grows(), {.preemptions = 3});
  expect_holds(both_add(), {.preemptions = 3});
}
TEST(CodeTable, A) { expect_needed("code_table.A", Order::relaxed, added()); }
TEST(CodeTable, P) { expect_needed("published.P", Order::relaxed, grows()); }

}  // namespace
}  // namespace nigh::model
