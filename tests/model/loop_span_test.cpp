// SPDX-License-Identifier: Apache-2.0
// An owner and helpers around the spans of a loop: each unit is run once, even when a helper puts
// its units where others take them again.

#include <array>
#include <memory>

#include "letters.hpp"
#include "loops/span.hpp"

namespace nigh::model {
namespace {

using loops::SpanOf;
using policy::Units;

// A span without (span.X): it looks, and then writes.
class TornWord {
 public:
  explicit TornWord(std::uint64_t value) : word_(value) {}
  std::uint64_t load(Order o) const { return word_.load(o); }
  bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t wanted, Order o) {
    auto const now = word_.load(o);
    if (now != expected) {
      expected = now;
      return false;
    }
    word_.store(wanted, o);
    return true;
  }

 private:
  sync::atomic<std::uint64_t> word_;
};

constexpr std::uint32_t units = 4;

template <class Word>
struct Loop {
  SpanOf<Word> mine{Units{0, units}};
  SpanOf<Word> theirs{Units{}};
  std::array<int, units> runs{};

  void run(Units u) {
    for (auto i = u.begin; i < u.end; ++i) check(++runs[i] == 1, "a unit is run once");
  }
  void own(SpanOf<Word>& span) {
    run(span.take_front([](std::uint32_t) { return 1u; }));
  }
  void visit(SpanOf<Word>& span, SpanOf<Word>& home) {
    auto u = span.take_back([](std::uint32_t left) { return left - left / 2; });
    if (u.count() > 1 && home.put({u.begin + 1, u.end})) u.end = u.begin + 1;
    run(u);
  }
};

// The owner takes two units, one by one; two others, who act for the same worker, visit it and put
// what they get into one span, from which they and the owner take. The rest is run in the end.
template <class Word>
Scenario crowd() {
  return [](OneRun& run) {
    auto s = std::make_shared<Loop<Word>>();
    run.threads = {[s] {
                     s->own(s->mine);
                     s->own(s->mine);
                     s->visit(s->theirs, s->mine);
                   },
                   [s] {
                     s->visit(s->mine, s->theirs);
                     s->own(s->theirs);
                   },
                   [s] { s->visit(s->mine, s->theirs); }};
    run.at_end = [s] {
      for (auto* span : {&s->mine, &s->theirs})
        s->run(span->take_front([](std::uint32_t left) { return left; }));
      for (int const n : s->runs) check(n == 1, "no unit is lost");
    };
  };
}

using Atomic = sync::atomic<std::uint64_t>;

TEST(LoopSpan, RunsEveryUnitOnce) { expect_holds(crowd<Atomic>()); }

TEST(LoopSpan, X) {
  auto const out = explore({}, crowd<TornWord>());
  EXPECT_NE(out.failure, "") << "nothing breaks without (span.X) in " << out.runs << " schedules";
  std::printf("           without (span.X): %s, after %ld schedules\n", out.failure.c_str(),
              out.runs);
}

}  // namespace
}  // namespace nigh::model
