// SPDX-License-Identifier: Apache-2.0
#include "simulation/host.hpp"

#include <utility>

namespace simulation {
namespace {

nigh::policy::CoreMap machine(int cpus) {
  nigh::policy::CoreMap::Parts parts;
  std::vector<int> sizes;
  for (int c = 0; c < cpus; ++c) {
    parts.cpus.push_back(c);
    if (c % 4 == 0) sizes.push_back(0);
    ++sizes.back();
  }
  parts.between.assign(sizes.size(), std::vector<double>(sizes.size(), 10));
  parts.levels = {std::move(sizes)};
  parts.within = {1};
  return nigh::policy::CoreMap(std::move(parts));
}

}  // namespace

// An administrator takes longer than the service manager.
Time Host::until_next() {
  auto& random = world->random();
  return random.one_in(8) ? random.spread(0, 3'000'000) : random.spread(100, 100'000);
}

Host::Host(int cpus, bool is_besieged) : cpus_(cpus) {
  auto& random = world->random();
  options_.allocation.how = static_cast<nigh::policy::CoreAllocation>(random.below(4));
  options_.allocation.scarcity.least_percent = static_cast<int>(random.below(3)) * 50;
  options_.slice_us = random.spread(1'000, 50'000);
  options_.idle_slice_us = random.spread(500, 20'000);
  options_.shortest_slice_us = random.between(500, 5'000);
  options_.overdue_us = random.between(200'000, 2'000'000);
  if (random.one_in(3)) options_.open_requests = 1 + random.below(4);
  if (!is_besieged && random.one_in(8)) options_.programs = 2 + random.below(6);
  auto& o = server_options_;
  o.core = options_;
  o.any_user = true;
  if (is_besieged) o.connections = 40 + random.below(40);
  if (!is_besieged && random.one_in(4)) o.connections_of_a_user = 3 + random.below(6);
  if (!is_besieged && random.one_in(8)) o.connections = 4 + random.below(8);
  if (random.one_in(4)) o.idle_exit_us = 100'000;
}

Host::~Host() {
  if (server_) world->as(*kernel->server, [this] { server_.reset(); });
}

bool Host::is_idle() const {
  if (!is_asleep() || task_->was_woken) return false;
  for (auto const& [number, file] : kernel->server->files)
    if (file->is_readable()) return false;
  return true;
}

// The listener is there as soon as the process is, as with the service manager's sockets.
void Host::start(Time after) {
  auto& process = kernel->new_process(0);
  task_ = world->spawn(
      &process, "server",
      [this] {
        kernel->server = &self();
        run();
      },
      after);
}

void Host::run() {
  {
    auto options = server_options_;
    auto listener = std::make_shared<Listener>();
    signal_ = std::make_shared<Signal>();
    kernel->listener = listener.get();
    options.listener = self().install(std::move(listener));
    options.signals = self().install(signal_);
    ++lives_;
    world->log("begins, for %1 cpus", cpus_);
    auto server = nigh::coordinator::Server::start(machine(cpus_), std::move(options));
    server_ = std::move(server).value();
  }
  server_->run();
  world->log("leaves");
  world->saw(Seen::server_ended);
  signal_.reset();
  server_.reset();
  kernel->server = nullptr;
  kernel->kill(self());
  start(until_next());
}

// The objects left on its stack hold nothing: it sleeps in EventSet::wait().
void Host::kill() {
  auto& process = *kernel->server;
  world->as(process, [this] { server_.reset(); });
  signal_.reset();
  kernel->server = nullptr;
  kernel->kill(process);
  start(until_next());
}

void Host::leave() {
  if (!signal_) return;
  signal_->has_come = true;
  signal_->notify();
}

}  // namespace simulation
