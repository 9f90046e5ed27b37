// SPDX-License-Identifier: Apache-2.0
// src/platform as the simulated host has it, for the server and the programs' clients, which are
// linked as they are: these definitions come before those of the library.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "platform/affinity.hpp"
#include "platform/cgroup.hpp"
#include "platform/cpu_times.hpp"
#include "platform/energy.hpp"
#include "platform/event_set.hpp"
#include "platform/futex.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "platform/own_socket.hpp"
#include "platform/process_identity.hpp"
#include "platform/program.hpp"
#include "platform/shared_memory.hpp"
#include "simulation/instead/platform/pause.hpp"
#include "simulation/kernel.hpp"

// The clock that all parts read.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  auto const us = simulation::world == nullptr ? 0 : simulation::world->now();
  return time_point(std::chrono::microseconds(us));
}

void nigh::sync::pause() noexcept { simulation::world->spin(); }

namespace nigh::platform {

using simulation::kernel;
using simulation::Memory;
using simulation::Seen;
using simulation::self;
using simulation::Socket;
using simulation::world;

// ---- sockets

void put_off(char const*) noexcept {}
bool is_put_off(char const*) noexcept { return false; }

int connect_local(char const*) noexcept {
  world->maybe_preempted();
  return kernel->connect();
}

int send_message(int socket, std::span<std::byte const> message, int passed) noexcept {
  world->maybe_preempted();
  // A lock held here must not be held while other threads run, which may kill this process.
  {
    auto const from = self().get<Socket>(socket);
    if (!from) return -EBADF;
    if (from->peer == nullptr || from->is_ended) return -EPIPE;
    if (from->peer->inbox.size() >= from->peer->room) {
      world->saw(Seen::buffer_full);
      ++self().unsent;
      return -EAGAIN;
    }
    kernel->note_sent(*from, message);
    from->peer->inbox.push_back({{message.begin(), message.end()}, self().file(passed)});
    from->peer->notify();
  }
  world->maybe_preempted();
  return 0;
}

int send_bytes(int, std::span<std::byte const>) noexcept { return -EPIPE; }

ArrivedMessage receive_message(int socket, std::span<std::byte> into) noexcept {
  world->maybe_preempted();
  auto const at = self().get<Socket>(socket);
  if (!at) return {.size = -EBADF};
  if (std::exchange(at->is_reset, false)) {
    world->saw(Seen::connection_reset);
    return {.size = -ECONNRESET};
  }
  if (at->inbox.empty()) return {.size = at->is_ended ? 0 : -EAGAIN};
  auto const message = std::move(at->inbox.front());
  at->inbox.pop_front();
  kernel->note_received(*at, message.bytes);
  std::memcpy(into.data(), message.bytes.data(), std::min(into.size(), message.bytes.size()));
  return {.size = static_cast<int>(message.bytes.size()),
          .passed = message.passed ? self().install(message.passed) : -1};
}

int receive_bytes(int socket, std::span<std::byte> into) noexcept {
  auto const arrived = receive_message(socket, into);
  close_descriptor(arrived.passed);
  return arrived.size;
}

bool wait_until_readable(int socket, int timeout_ms) noexcept {
  return simulation::wait_for(socket, world->now() + std::int64_t{timeout_ms} * 1000);
}

void hang_up(int socket) noexcept {
  if (auto const at = self().get<Socket>(socket)) at->end();
}
int duplicate_descriptor(int descriptor) noexcept {
  auto file = self().file(descriptor);
  return file ? self().install(std::move(file)) : -EBADF;
}
void close_descriptor(int descriptor) noexcept { self().files.erase(descriptor); }

int accept_local(int listener) noexcept {
  auto const at = self().get<simulation::Listener>(listener);
  if (!at || at->backlog.empty()) return -EAGAIN;
  bool const has_spare = at.use_count() < 4;  // its number, the event set, and we here
  if (!kernel->has_descriptors && !has_spare) {
    world->saw(Seen::no_descriptors);
    return -EMFILE;
  }
  auto socket = at->backlog.front();
  at->backlog.pop_front();
  return self().install(std::move(socket));
}

bool has_hung_up(int socket) noexcept {
  auto const at = self().get<Socket>(socket);
  return at && at->peer == nullptr;
}

result<Peer> peer_of(int socket) {
  auto const at = self().get<Socket>(socket);
  auto* const process = at ? kernel->find(at->process) : nullptr;
  if (process == nullptr) return error{"it is gone"};
  return Peer{process->pid, process->user};
}
unsigned own_user() noexcept { return self().user; }

// ---- the socket of a client, which the program may close behind its back

OwnSocket::~OwnSocket() { close_own(); }
int OwnSocket::own() const noexcept { return self().file(number_) ? number_ : -1; }
int OwnSocket::number() const noexcept { return std::max(-1, watched_.load(sync::relaxed)); }
void OwnSocket::close_own() noexcept { close_descriptor(std::exchange(number_, none)); }

OwnSocket::Use::Use(OwnSocket& socket) noexcept : socket_(&socket) {
  socket_->lock_.share();
  number_ = socket_->own();
}
OwnSocket::Use::~Use() { socket_->lock_.unshare(); }

OwnSocket::Change::Change(OwnSocket& socket) noexcept : socket_(&socket) {
  socket_->lock_.take();
  socket_->watched_.store(any, sync::relaxed);
}
OwnSocket::Change::~Change() {
  socket_->watched_.store(socket_->number_, sync::relaxed);
  socket_->lock_.give();
}
int OwnSocket::Change::number() const noexcept { return socket_->own(); }
void OwnSocket::Change::close() noexcept { socket_->close_own(); }
int OwnSocket::Change::open(char const* path) noexcept {
  socket_->close_own();
  int const number = connect_local(path);
  if (number < 0) return number;
  socket_->number_ = number;
  return 0;
}

bool OwnSocket::begin_closing(unsigned first, unsigned last) noexcept {
  auto const is_among = [&](int number) {
    return number >= 0 && first <= static_cast<unsigned>(number) &&
           static_cast<unsigned>(number) <= last;
  };
  int const seen = watched_.load(sync::relaxed);
  if (seen != any && !is_among(seen)) return false;
  lock_.take();
  if (!is_among(number_)) return true;
  if (int const mine = own(); mine >= 0) hang_up(mine);
  number_ = none;
  watched_.store(none, sync::relaxed);
  return true;
}
void OwnSocket::end_closing() noexcept { lock_.give(); }
void OwnSocket::drop() noexcept {
  lock_.reset();
  close_own();
  watched_.store(none, sync::relaxed);
}

// ---- what the server waits for

namespace {
struct Queue final : simulation::File {
  simulation::EventQueue events_of;
};
}  // namespace

result<EventSet> EventSet::make() {
  return EventSet(self().install(std::make_shared<Queue>()), -1);
}
EventSet::EventSet(EventSet&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)), timer_(-1) {}
EventSet::~EventSet() { close_descriptor(descriptor_); }

result<void> EventSet::add(int descriptor, std::uint64_t name) {
  auto const file = self().file(descriptor);
  if (!file) return {};  // the bell of the profiles' thread, which is a real descriptor
  if (auto const socket = std::dynamic_pointer_cast<Socket>(file)) socket->link->name = name;
  self().get<Queue>(descriptor_)->events_of.add(file, name);
  return {};
}
result<void> EventSet::await_room(int, std::uint64_t) { return error{"not simulated"}; }
void EventSet::remove(int descriptor) noexcept {
  if (auto const file = self().file(descriptor))
    self().get<Queue>(descriptor_)->events_of.remove(file.get());
}

std::span<std::uint64_t const> EventSet::wait(std::optional<std::int64_t> timeout_us) {
  auto& queue = self().get<Queue>(descriptor_)->events_of;
  std::vector<std::uint64_t> ready;
  auto const look = [&] {
    // One that is woken takes a part of what there is, in any order, as under load.
    auto const most = 1 + world->random().below(4);
    queue.collect(ready, most, world->random().below(64));
    std::copy(ready.begin(), ready.end(), names_.begin());
    return std::span<std::uint64_t const>{names_.data(), ready.size()};
  };
  world->sleep(world->random().below(3));
  if (auto const happened = look(); !happened.empty() || (timeout_us && *timeout_us <= 0))
    return happened;
  queue.waiting = world->current();
  world->park(timeout_us ? world->now() + *timeout_us : simulation::never);
  queue.waiting = nullptr;
  return look();
}

// ---- memory

int make_shared_memory(std::size_t bytes) noexcept {
  NIGH_ASSERT(bytes == sizeof(coordinator::LeasePage), "pages are all that is shared");
  if (!kernel->has_memory) {
    world->saw(Seen::no_memory);
    return -ENFILE;
  }
  return self().install(std::make_shared<Memory>());
}
// The mapping that is replaced stays where it is until the process ends: others of its threads may
// be reading there.
void* map_shared(int descriptor, std::size_t, void*) noexcept {
  auto const memory = self().get<Memory>(descriptor);
  if (!memory) return nullptr;
  self().mapped[memory->at()] = memory;
  return memory->at();
}
void unshare(void*, std::size_t) noexcept {}
void unmap_shared(void* at, std::size_t) noexcept { self().mapped.erase(at); }

// ---- sleeping

void futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex_wait_for(word, expected, -1);
}
void futex_wait_for(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::int64_t most_ns) noexcept {
  world->maybe_preempted();
  if (word.load(sync::relaxed) != expected) return;
  auto* const task = world->current();
  self().asleep[&word].push_back(task);
  world->park(most_ns < 0 ? simulation::never : world->now() + most_ns / 1000);
  std::erase(self().asleep[&word], task);
}
void futex_wake_one(sync::atomic<std::uint32_t>& word) noexcept { futex_wake_all(word); }
void futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept {
  for (auto* const task : self().asleep[&word]) world->wake(*task);
}

// ---- the host

int current_cpu() noexcept { return self().cpu; }
std::filesystem::path program_of(int) { return {}; }

// Numbers of processes are not used again here.
std::uint64_t start_of(int pid, std::filesystem::path const&) {
  auto const* const process = kernel->find(pid);
  return process == nullptr || process->is_dead ? 0 : 1;
}
bool ProcessIdentity::is_there() const { return started != 0 && start_of(pid) == started; }
bool ProcessIdentity::has_ended() const { return started != 0 && !is_there(); }
ProcessIdentity identity_of_peer(int, int pid) { return {pid, start_of(pid)}; }

CgroupReader::CgroupReader(std::filesystem::path) {}
CpuGrants const& CgroupReader::grants_to(int pid) {
  static CpuGrants const nothing;
  auto const* const process = kernel->find(pid);
  return process == nullptr ? nothing : process->grants;
}

std::vector<CpuTimes> cpu_times(std::filesystem::path const&) {
  auto const passed = (world->now() - kernel->times_at) / 10'000;
  kernel->times_at += passed * 10'000;
  std::vector<CpuTimes> times;
  for (std::size_t c = 0; c < kernel->busy.size(); ++c) {
    bool const is_busy = kernel->external_load[c] || kernel->regions_at[c] > 0;
    (is_busy ? kernel->busy : kernel->idle)[c] += passed;
    times.push_back({kernel->busy[c], kernel->idle[c]});
  }
  return times;
}
std::optional<std::int64_t> cpu_time_of(int pid, std::filesystem::path const&) {
  auto const* const process = kernel->find(pid);
  if (process == nullptr || process->is_dead) return std::nullopt;
  return process->worked / 10'000;
}

EnergyMeter::EnergyMeter(std::filesystem::path) {}
std::vector<EnergyMeter::Package> EnergyMeter::look() {
  std::vector<Package> packages(2);
  for (std::size_t c = 0; c < kernel->busy.size(); ++c)
    packages[c * 2 / kernel->busy.size()].cpus.push_back(static_cast<int>(c));
  for (auto& package : packages) package.used_uj = world->random().below(1'000'000);
  return packages;
}

}  // namespace nigh::platform
