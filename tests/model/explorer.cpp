// SPDX-License-Identifier: Apache-2.0
#include "explorer.hpp"

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <memory>

#include "base/atomic.hpp"
#include "platform/futex.hpp"
#include "platform/thread.hpp"

namespace nigh::model {
namespace {

using View = std::vector<std::uint32_t>;  // [location]: index of the oldest store still visible

void join(View& into, View const& from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}
std::uint32_t& entry(View& v, std::uint32_t at) {
  if (v.size() <= at) v.resize(at + 1, 0);
  return v[at];
}

struct Store {
  std::uint64_t value;
  View released;
};

// Of plain data, `stores` has an entry for every access, reads too, so that a view tells which
// accesses are ordered before now; last_write is the index of the newest write.
struct Location {
  std::vector<Store> stores;
  std::uint32_t last_seq_cst = 0;
  std::uint32_t last_write = 0;
};

constexpr std::size_t stack_bytes = 128 * 1024;
constexpr std::uint32_t awake = ~0u;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
  std::function<void()> body;
  View view;
  std::uint32_t asleep_on = awake;
  bool done = true;
};

struct Choice {
  int taken;
  int of;
};

class Explorer {
 public:
  explicit Explorer(Bounds const& b) : bounds(b) {}

  Outcome run_all(std::function<void(OneRun&)> const& scenario) {
    Outcome out;
    do {
      run_once(scenario);
      ++out.runs;
      if (!failure.empty()) {
        out.failure = failure;
        return out;
      }
      while (!choices.empty() && choices.back().taken + 1 == choices.back().of) choices.pop_back();
      if (choices.empty()) {
        out.complete = true;
        return out;
      }
      ++choices.back().taken;
    } while (out.runs < bounds.runs);
    return out;
  }

  // -- scheduling
  int choose(int of) {
    if (of == 1) return 0;
    if (next_choice < choices.size()) return choices[next_choice++].taken;
    choices.push_back({0, of});
    ++next_choice;
    return 0;
  }

  // Before an operation of the running thread: it goes on, or, as the budget allows, another does.
  void point() {
    if (running == none) return;
    if (++steps > bounds.steps_per_run)
      fail("livelock: the threads run on without getting anywhere");
    std::vector<std::size_t> others = runnable_but(running);
    if (preemptions_left == 0 || others.empty()) return;
    int const c = choose(static_cast<int>(others.size()) + 1);
    if (c == 0) return;
    --preemptions_left;
    switch_to(others[static_cast<std::size_t>(c) - 1]);
  }

  // The running thread cannot or will not go on.
  void give_way() {
    auto const others = runnable_but(running);
    if (others.empty()) {
      if (fibers[running].asleep_on != awake) fail("deadlock: every thread left is asleep");
      if (++steps > bounds.steps_per_run) fail("livelock: the last thread waits in a loop");
      return;
    }
    if (++steps > bounds.steps_per_run)
      fail("livelock: the threads run on without getting anywhere");
    switch_to(others[static_cast<std::size_t>(choose(static_cast<int>(others.size())))]);
  }

  [[noreturn]] void fail(std::string what) {
    failure = std::move(what);
    setcontext(&main_context);
    std::abort();
  }

  Location& at(std::uint32_t id) { return locations[id]; }
  View& view() { return running == none ? main_view : fibers[running].view; }

  Bounds const bounds;
  static constexpr std::size_t none = ~std::size_t{0};
  std::vector<Choice> choices;
  std::size_t next_choice = 0;
  int preemptions_left = 0, stale_left = 0, steps = 0;
  std::string failure;
  std::deque<Location> locations;
  std::deque<Fiber> fibers;
  std::size_t thread_count = 0, running = none;
  View main_view, fenced_view;
  ucontext_t main_context;

 private:
  std::vector<std::size_t> runnable_but(std::size_t self) const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < thread_count; ++i)
      if (i != self && !fibers[i].done && fibers[i].asleep_on == awake) list.push_back(i);
    return list;
  }

  void switch_to(std::size_t next) {
    auto const self = running;
    running = next;
    swapcontext(&fibers[self].context, &fibers[next].context);
  }

  static void enter(unsigned high, unsigned low);
  void finish_fiber();
  void run_once(std::function<void(OneRun&)> const& scenario);
};

Explorer* explorer = nullptr;

void Explorer::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Explorer*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->fibers[self->running].body();
  self->finish_fiber();
}

void Explorer::finish_fiber() {
  auto& me = fibers[running];
  me.done = true;
  join(main_view, me.view);
  auto const others = runnable_but(running);
  if (!others.empty()) {
    running = others[static_cast<std::size_t>(choose(static_cast<int>(others.size())))];
    setcontext(&fibers[running].context);
  }
  for (std::size_t i = 0; i < thread_count; ++i)
    if (!fibers[i].done) fail("deadlock: every thread left is asleep");
  setcontext(&main_context);
}

void Explorer::run_once(std::function<void(OneRun&)> const& scenario) {
  next_choice = 0;
  preemptions_left = bounds.preemptions;
  stale_left = bounds.stale_reads;
  steps = 0;
  locations.clear();
  main_view.clear();
  fenced_view.clear();
  running = none;

  OneRun run;
  scenario(run);
  thread_count = run.threads.size();
  while (fibers.size() < thread_count) fibers.emplace_back();
  auto const self = reinterpret_cast<std::uintptr_t>(this);
  for (std::size_t i = 0; i < thread_count; ++i) {
    auto& f = fibers[i];
    f.body = run.threads[i];
    f.view = main_view;
    f.asleep_on = awake;
    f.done = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, reinterpret_cast<void (*)()>(&Explorer::enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  bool volatile started = false;
  getcontext(&main_context);
  if (!started && failure.empty() && thread_count > 0) {
    started = true;
    running = static_cast<std::size_t>(choose(static_cast<int>(thread_count)));
    setcontext(&fibers[running].context);
  }
  running = none;
  if (failure.empty() && run.at_end) run.at_end();
}

// -- weakening by letter

// The comments of the statement that begins in a line: those up to its semicolon.
std::string const& letters_of(std::source_location const& where) {
  static std::map<std::pair<std::string, std::uint_least32_t>, std::string> known;
  auto const key = std::pair(std::string(where.file_name()), where.line());
  auto const [found, is_new] = known.try_emplace(key);
  if (!is_new) return found->second;
  std::ifstream file(where.file_name());
  if (!file) {
    std::fprintf(stderr, "%s cannot be read, and its letters are unknown\n", where.file_name());
    std::abort();
  }
  std::string line;
  for (std::uint_least32_t n = 1; std::getline(file, line); ++n) {
    if (n < where.line()) continue;
    auto const comment = std::min(line.find("//"), line.size());
    found->second += line.substr(comment);
    if (line.find(';') < comment) break;
  }
  return found->second;
}

Order weakened(Order order, std::source_location const& where) {
  auto const& b = explorer->bounds;
  if (b.weaken.empty() || order == Order::relaxed) return order;
  if (letters_of(where).find("(" + b.weaken + ")") == std::string::npos) return order;
  if (b.weaken_to == Order::acq_rel && order != Order::seq_cst) return order;
  return b.weaken_to;
}

bool acquires(Order o) { return o == Order::acquire || o == Order::acq_rel || o == Order::seq_cst; }
bool releases(Order o) { return o == Order::release || o == Order::acq_rel || o == Order::seq_cst; }

void add_store(std::uint32_t at, std::uint64_t value, Order order, View const* continued) {
  auto& location = explorer->at(at);
  auto& view = explorer->view();
  auto const index = static_cast<std::uint32_t>(location.stores.size());
  entry(view, at) = index;
  Store s{value, {}};
  if (releases(order)) s.released = view;
  if (continued != nullptr) join(s.released, *continued);  // a release sequence goes on
  location.stores.push_back(std::move(s));
  if (order == Order::seq_cst) location.last_seq_cst = index;
}

}  // namespace

Outcome explore(Bounds const& bounds, std::function<void(OneRun&)> const& scenario) {
  auto const self = std::make_unique<Explorer>(bounds);
  explorer = self.get();
  return self->run_all(scenario);
}

void check(bool condition, char const* what) {
  if (!condition) explorer->fail(what);
}
void yield() {
  if (explorer->running != Explorer::none) explorer->give_way();
}

std::uint32_t new_location(std::uint64_t value) {
  auto const id = static_cast<std::uint32_t>(explorer->locations.size());
  explorer->locations.push_back({{{value, {}}}, 0, 0});
  return id;
}

std::uint64_t load(std::uint32_t at, Order order, std::source_location const& where) {
  order = weakened(order, where);
  explorer->point();
  auto& location = explorer->at(at);
  auto& view = explorer->view();
  auto const newest = static_cast<std::uint32_t>(location.stores.size()) - 1;
  auto oldest = entry(view, at);
  if (order == Order::seq_cst) oldest = std::max(oldest, location.last_seq_cst);
  auto index = newest;
  if (explorer->stale_left > 0 && newest > oldest) {
    auto const back =
        static_cast<std::uint32_t>(explorer->choose(static_cast<int>(newest - oldest) + 1));
    if (back > 0) --explorer->stale_left;
    index -= back;
  }
  entry(view, at) = index;
  if (acquires(order)) join(view, location.stores[index].released);
  return location.stores[index].value;
}

void store(std::uint32_t at, std::uint64_t value, Order order, std::source_location const& where) {
  explorer->point();
  add_store(at, value, weakened(order, where), nullptr);
}

std::uint64_t read_modify_write(std::uint32_t at, Order order, std::source_location const& where,
                                std::function<bool(std::uint64_t, std::uint64_t&)> const& f) {
  order = weakened(order, where);
  explorer->point();
  auto& location = explorer->at(at);
  Store const old = location.stores.back();
  entry(explorer->view(), at) = static_cast<std::uint32_t>(location.stores.size()) - 1;
  if (acquires(order)) join(explorer->view(), old.released);
  std::uint64_t now = 0;
  if (f(old.value, now)) add_store(at, now, order, &old.released);
  return old.value;
}

void fence(std::source_location const& where) {
  if (weakened(Order::seq_cst, where) != Order::seq_cst) return;
  explorer->point();
  auto& view = explorer->view();
  join(view, explorer->fenced_view);
  explorer->fenced_view = view;
}

// The kernel compares and puts to sleep in one step, under its own lock.
void futex_wait(std::uint32_t at, std::uint64_t expected) {
  explorer->point();
  auto& location = explorer->at(at);
  if (location.stores.back().value != expected) {
    explorer->give_way();
    return;
  }
  explorer->fibers[explorer->running].asleep_on = at;
  explorer->give_way();
}

void futex_wake(std::uint32_t at, bool all) {
  explorer->point();
  for (auto& f : explorer->fibers) {
    if (f.done || f.asleep_on != at) continue;
    f.asleep_on = awake;
    if (!all) return;
  }
}

std::uint64_t plain_load(std::uint32_t at) {
  auto& location = explorer->at(at);
  auto& view = explorer->view();
  check(entry(view, at) >= location.last_write, "data race: a read beside a write");
  auto const value = location.stores[location.last_write].value;
  location.stores.push_back({value, {}});
  entry(view, at) = static_cast<std::uint32_t>(location.stores.size()) - 1;
  return value;
}

void plain_store(std::uint32_t at, std::uint64_t value) {
  auto& location = explorer->at(at);
  auto& view = explorer->view();
  check(entry(view, at) == location.stores.size() - 1, "data race: a write beside another access");
  location.last_write = static_cast<std::uint32_t>(location.stores.size());
  location.stores.push_back({value, {}});
  entry(view, at) = location.last_write;
}

}  // namespace nigh::model

namespace nigh::platform {

void yield() noexcept { model::yield(); }

void futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  model::futex_wait(word.location_id(), expected);
}
void futex_wake_one(sync::atomic<std::uint32_t>& word) noexcept {
  model::futex_wake(word.location_id(), false);
}
void futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept {
  model::futex_wake(word.location_id(), true);
}
// Sleeps of a millisecond and more count as endless: none is to be missed and end by itself.
void futex_wait_for(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::int64_t most_ns) noexcept {
  if (most_ns >= 1'000'000) model::futex_wait(word.location_id(), expected);
}
void shared_futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t most_ns) noexcept {
  if (most_ns >= 1'000'000) model::futex_wait(word.location_id(), expected);
}
void shared_futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept { futex_wake_all(word); }

}  // namespace nigh::platform
