// SPDX-License-Identifier: Apache-2.0
#include "simulation/kernel.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace simulation {

Kernel* kernel = nullptr;

void File::notify() {
  for (Task* const task : waiting) world->wake(*task);
  if (events != nullptr && events->waiting != nullptr) world->wake(*events->waiting);
}

bool wait_for(int descriptor, Time until) {
  Task* const task = world->current();
  File* file = nullptr;
  {
    auto const found = self().file(descriptor);
    if (!found || found->is_readable()) return true;
    file = found.get();
    self().awaited[task] = found;
  }
  file->waiting.push_back(task);
  world->park(until);
  std::erase(file->waiting, task);
  bool const is_readable = file->is_readable();
  self().awaited.erase(task);
  return is_readable;
}

Socket::~Socket() {
  if (link) link->is_cut = true;
  if (peer == nullptr) return;
  if (!inbox.empty()) peer->is_reset = true;
  peer->is_ended = true;
  peer->peer = nullptr;
  peer->notify();
}

void Socket::end() {
  if (link) link->is_cut = true;
  is_ended = true;
  notify();
  if (peer == nullptr) return;
  peer->is_ended = true;
  peer->notify();
}

Listener::~Listener() {
  if (kernel->listener == this) kernel->listener = nullptr;
}

namespace {
std::vector<std::unique_ptr<Memory::Bytes>>& spare_memory() {
  static std::vector<std::unique_ptr<Memory::Bytes>> spare;
  return spare;
}
}  // namespace

Memory::Memory() {
  auto& spare = spare_memory();
  if (spare.empty()) {
    bytes_ = std::make_unique<Bytes>();
  } else {
    bytes_ = std::move(spare.back());
    spare.pop_back();
    *bytes_ = {};
  }
}
Memory::~Memory() { spare_memory().push_back(std::move(bytes_)); }

EventQueue::~EventQueue() {
  for (auto const& one : all_) one.file->events = nullptr;
}
void EventQueue::add(FilePointer const& file, std::uint64_t name) {
  file->events = this;
  all_.push_back({name, file});
}
void EventQueue::remove(File* file) {
  file->events = nullptr;
  std::erase_if(all_, [file](One const& one) { return one.file.get() == file; });
}
void EventQueue::collect(std::vector<std::uint64_t>& names, std::size_t most,
                         std::uint32_t first) const {
  for (std::size_t i = 0; i < all_.size() && names.size() < most; ++i) {
    auto const& one = all_[(i + first) % all_.size()];
    if (one.file->is_readable()) names.push_back(one.name);
  }
}

int Process::install(FilePointer file) {
  files[next_file] = std::move(file);
  return next_file++;
}
FilePointer Process::file(int number) const {
  auto const found = files.find(number);
  return found == files.end() ? nullptr : found->second;
}

Process& Kernel::new_process(unsigned user) {
  processes_.push_back(std::make_unique<Process>());
  auto& process = *processes_.back();
  process.pid = ++last_pid_;
  process.user = user;
  return process;
}

Process& Kernel::fork(Process& parent) {
  auto& child = new_process(parent.user);
  child.files = parent.files;
  child.next_file = parent.next_file;
  child.grants = parent.grants;
  return child;
}

void Kernel::kill(Process& process) {
  if (std::exchange(process.is_dead, true)) return;
  world->forget(process);
  for (auto& [task, file] : process.awaited) std::erase(file->waiting, task);
  process.asleep.clear();
  process.awaited.clear();
  // Each is closed by itself, and whoever is told may look at the rest.
  auto files = std::exchange(process.files, {});
  files.clear();
  process.mapped.clear();
}

void Kernel::stop(Process& process) {
  if (process.is_dead || std::exchange(process.is_stopped, true)) return;
  process.stopped_at = world->now();
}

void Kernel::resume(Process& process) {
  if (!std::exchange(process.is_stopped, false)) return;
  process.lag += world->now() - process.stopped_at;
  world->resume(process);
}

Process* Kernel::find(int pid) {
  auto const found = std::find_if(processes_.begin(), processes_.end(),
                                  [pid](auto const& p) { return p->pid == pid; });
  return found == processes_.end() ? nullptr : found->get();
}

void Kernel::forget_dead() {
  std::set<Process*> needed;
  for (auto const& task : world->tasks())
    if (task->process != nullptr) needed.insert(task->process);
  std::erase_if(processes_, [&](auto const& p) { return p->is_dead && !needed.contains(p.get()); });
  std::erase_if(links, [](auto const& link) { return link->is_cut && link.use_count() == 1; });
}

int Kernel::connect() {
  constexpr std::size_t most_waiting = 16;
  if (listener == nullptr || listener->backlog.size() >= most_waiting) {
    world->saw(Seen::connection_refused);
    return listener == nullptr ? -ECONNREFUSED : -EAGAIN;
  }
  auto ours = std::make_shared<Socket>(), theirs = std::make_shared<Socket>();
  ours->peer = theirs.get();
  theirs->peer = ours.get();
  ours->link = theirs->link = std::make_shared<Link>();
  ours->link->program = self().pid;
  ours->process = theirs->process = self().pid;
  ours->room = theirs->room = static_cast<std::size_t>(socket_room);
  links.push_back(ours->link);
  listener->backlog.push_back(theirs);
  listener->notify();
  return self().install(ours);
}

}  // namespace simulation
