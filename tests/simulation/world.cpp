// SPDX-License-Identifier: Apache-2.0
#include "simulation/world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "simulation/kernel.hpp"

namespace simulation {

World* world = nullptr;

World::World(std::uint64_t seed, bool tells)
    : seed_(seed), random_(seed), tells_(tells), load_(4U << random_.below(5)) {
  world = this;
}

World::~World() { world = nullptr; }

Task* World::spawn(Process* process, char const* role, std::function<void()> body, Time after) {
  auto task = std::make_unique<Task>();
  task->number = ++last_task_;
  task->process = process;
  task->role = role;
  task->fiber = std::make_unique<Fiber>(std::move(body));
  Task* const it = task.get();
  tasks_.push_back(std::move(task));
  enter_calendar(*it, now_ + after);
  return it;
}

void World::enter_calendar(Task& task, Time at) {
  calendar_.push({at, ++order_, &task, ++task.turn});
}

bool World::step() {
  for (;;) {
    if (calendar_.empty()) return false;
    auto const entry = calendar_.top();
    calendar_.pop();
    Task& task = *entry.task;
    if (entry.turn != task.turn || task.is_over) continue;
    now_ = std::max(now_, entry.at);
    if (task.process != nullptr && task.process->is_stopped) {
      task.is_due = true;
      continue;
    }
    task.is_parked = false;
    current_ = &task;
    task.fiber->run();
    current_ = nullptr;
    if (task.fiber->is_over()) task.is_over = is_to_reap_ = true;
    if (is_to_reap_) reap();
    ++steps_;
    return true;
  }
}

// Entries of the calendar point at tasks: those of the dead stay until nothing does any more.
void World::reap() {
  is_to_reap_ = false;
  for (auto& task : tasks_)
    if (task->is_over) task->fiber.reset();
  if (tasks_.size() < 512) return;
  std::vector<Entry> alive;
  for (; !calendar_.empty(); calendar_.pop())
    if (auto const& entry = calendar_.top(); !entry.task->is_over && entry.turn == entry.task->turn)
      alive.push_back(entry);
  for (auto const& entry : alive) calendar_.push(entry);
  std::erase_if(tasks_, [](auto const& task) { return task->is_over; });
}

Time World::lateness(Time from) {
  auto const chance = random_.below(load_ * 32);
  Time const late = chance == 0    ? random_.spread(0, 20'000)
                    : chance < 32U ? random_.spread(0, 500)
                                   : random_.below(12);
  if (current_ == nullptr || current_->process == nullptr) return late;
  auto& process = *current_->process;
  process.lag += late;
  std::erase_if(process.late, [this](auto const& one) { return one.until <= now_; });
  if (late > 0) process.late.push_back({from, from + late});
  return late;
}

bool World::park(Time until) {
  Task& task = *current_;
  task.was_woken = false;
  task.is_parked = true;
  ++task.turn;
  if (auto const at = std::max(now_, until); until != never)
    enter_calendar(task, at + lateness(at));
  Fiber::pause();
  return task.was_woken;
}

void World::wake(Task& task) {
  if (!task.is_parked || task.was_woken || task.is_over) return;
  task.was_woken = true;
  Task* const before = current_;
  current_ = &task;  // who is late
  auto const late = lateness(now_);
  current_ = before;
  enter_calendar(task, now_ + late);
}

void World::sleep(Time us) {
  Task& task = *current_;
  task.is_parked = false;
  enter_calendar(task, now_ + us + lateness(now_ + us));
  Fiber::pause();
}

void World::maybe_preempted() {
  if (current_ == nullptr || !random_.one_in(load_)) return;
  enter_calendar(*current_, now_ + lateness(now_));
  Fiber::pause();
}

void World::spin() {
  enter_calendar(*current_, now_ + 4 + random_.below(12));
  Fiber::pause();
}

void World::forget(Process& process) {
  for (auto& task : tasks_)
    if (task->process == &process) task->is_over = is_to_reap_ = true;
}

void World::resume(Process& process) {
  for (auto& task : tasks_)
    if (task->process == &process && task->is_due && !task->is_over) {
      task->is_due = false;
      enter_calendar(*task, now_ + random_.below(20));
    }
}

void World::as(Process& process, std::function<void()> const& what) {
  Task other;
  other.process = &process;
  Task* const before = std::exchange(current_, &other);
  what();
  current_ = before;
}

void World::log(char const* what, std::int64_t a, std::int64_t b, std::int64_t c) {
  auto& line = lines_[lines_written_++ % lines_kept];
  bool const is_of_a_process = current_ != nullptr && current_->process != nullptr;
  line = {now_,
          steps_,
          is_of_a_process ? current_->process->pid : 0,
          current_ != nullptr ? current_->role : "",
          what,
          a,
          b,
          c};
  if (tells_) print(line);
}

void World::print(Line const& l) const {
  std::printf("%9llu %12.6f s  %5d %-9s ", static_cast<unsigned long long>(l.step),
              static_cast<double>(l.at) / 1e6, l.process, l.role);
  for (char const* c = l.what; *c != '\0'; ++c) {
    if (*c != '%') {
      std::putchar(*c);
      continue;
    }
    ++c;
    std::printf("%lld", static_cast<long long>(*c == '1' ? l.a : *c == '2' ? l.b : l.c));
  }
  std::putchar('\n');
}

void World::print_log() const {
  std::printf("%9s %14s  %5s\n", "step", "time", "pid");
  auto const first = lines_written_ > lines_kept ? lines_written_ - lines_kept : 0;
  for (auto i = first; i < lines_written_; ++i) print(lines_[i % lines_kept]);
  std::printf("stopped at step %llu; again: --seed %llu --rounds 1\n",
              static_cast<unsigned long long>(steps_), static_cast<unsigned long long>(seed_));
  std::fflush(stdout);
}

void World::fail(std::string const& what) const {
  print_log();
  std::printf("broken: %s\n", what.c_str());
  std::fflush(stdout);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace simulation
