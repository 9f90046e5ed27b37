// SPDX-License-Identifier: Apache-2.0
#include "base/published.hpp"

#include <array>
#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Object {
  Plain content;
};

struct Shared {
  base::Published<Object> found;
  std::array<Object, 2> made;
  int published = 0;
};

void look(Shared& s) {
  auto* const object = s.found.get();
  if (object != nullptr) check(object->content.get() == 1, "what is found is whole");
}

Scenario setting() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] {
                     s->made[0].content.set(1);
                     s->found.set(&s->made[0]);
                   },
                   [s] { look(*s); }};
  };
}

// Two threads make the object at once, as at a first use. One of the two is published, and both go
// on with that one.
Scenario racing() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto const make = [s](std::size_t mine) {
      auto* known = s->found.get();
      if (known == nullptr) {
        s->made[mine].content.set(1);
        if (s->found.replace(known, &s->made[mine])) {
          ++s->published;
          known = &s->made[mine];
        }
      }
      check(known->content.get() == 1, "both see it whole");
    };
    run.threads = {[make] { make(0); }, [make] { make(1); }};
    run.at_end = [s] { check(s->published == 1, "one is published"); };
  };
}

TEST(Published, IsFoundWhole) {
  expect_holds(setting(), {.preemptions = 3});
  expect_holds(racing(), {.preemptions = 3});
}
TEST(Published, P) {
  expect_needed("published.P", Order::relaxed, setting());
  expect_needed("published.P", Order::relaxed, racing());
}

}  // namespace
}  // namespace nigh::model
