// SPDX-License-Identifier: Apache-2.0
// The whole service, simulated: the real server and the real clients of many programs on a host of
// which a seed decides everything: who runs when, who dies, what liars say, and when the clock says
// what. In the manner of TigerBeetle's simulator.
//
//   simulation [--steps N] [--seed N] [--rounds N] [--tell 1]
//
// Plays rounds of 50,000 steps, each on another host. A round that fails prints its last events and
// its seed; `--seed N --rounds 1` plays it again, `--tell 1` prints all of it.

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "simulation/fate.hpp"

namespace simulation {
namespace {

struct Arguments {
  std::uint64_t seed = std::random_device{}();
  std::uint64_t steps = 1'000'000;
  std::uint64_t rounds = 0;
  std::uint64_t tell = 0;
};

constexpr std::uint64_t steps_of_a_round = 50'000;
constexpr int most_users = 6;  // liars among them

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    std::uint64_t* into = nullptr;
    if (std::strcmp(argv[i], "--seed") == 0) into = &a.seed;
    if (std::strcmp(argv[i], "--steps") == 0) into = &a.steps;
    if (std::strcmp(argv[i], "--rounds") == 0) into = &a.rounds;
    if (std::strcmp(argv[i], "--tell") == 0) into = &a.tell;
    char const* const text = i + 1 < argc ? argv[i + 1] : "";
    char const* const end = text + std::strlen(text);
    if (into == nullptr || text == end || std::from_chars(text, end, *into).ptr != end) {
      std::fprintf(stderr, "usage: %s [--steps N] [--seed N] [--rounds N] [--tell 1]\n", argv[0]);
      std::exit(2);
    }
  }
  return a;
}

// A bug that the service itself has found.
extern "C" void on_abort(int) {
  std::fflush(stderr);
  if (world != nullptr) world->print_log();
  std::_Exit(EXIT_FAILURE);
}

struct Results {
  Counts seen{};
  Invariants::Longest longest;

  void add(Counts const& more) {
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] += more[i];
  }
  void add(Invariants::Longest const& l, bool counts_asking) {
    if (counts_asking) longest.asking = std::max(longest.asking, l.asking);
    longest.beyond = std::max(longest.beyond, l.beyond);
    longest.unasked = std::max(longest.unasked, l.unasked);
    longest.waiting = std::max(longest.waiting, l.waiting);
    longest.below_part = std::max(longest.below_part, l.below_part);
  }
};

void play(std::uint64_t seed, bool tells, Results& results) {
  World here(seed, tells);
  Kernel its_kernel;
  kernel = &its_kernel;
  auto const cpus = 1 + static_cast<int>(here.random().spread(0, 15));
  its_kernel.external_load.assign(static_cast<std::size_t>(cpus), false);
  its_kernel.regions_at.assign(static_cast<std::size_t>(cpus), 0);
  its_kernel.busy.assign(static_cast<std::size_t>(cpus), 0);
  its_kernel.idle.assign(static_cast<std::size_t>(cpus), 0);
  its_kernel.socket_room = here.random().one_in(3) ? 2 : 64;
  bool const is_siege = here.random().one_in(4);
  bool const has_quotas = !is_siege && here.random().one_in(2);
  {
    Host host(cpus, is_siege);
    Invariants invariants(host, is_siege ? std::optional(Programs::first_user) : std::nullopt);
    Programs programs(host, invariants, has_quotas, is_siege);
    Liars liars(host);
    Fate fate(host, programs, liars, has_quotas, !is_siege);
    its_kernel.on_patient_request = [&](int program) { programs.note_patient_request(program); };
    host.start(0);
    fate.begin();
    if (is_siege) {
      here.saw(Seen::siege);
      liars.besiege();
    }
    auto const next = [&] {
      if (!here.step()) here.fail("nothing will ever happen any more");
      invariants.check();
    };
    while (here.steps() < steps_of_a_round) next();
    while (host.core() != nullptr && !host.is_asleep()) next();
    results.add(here.seen());
    // Elsewhere users have less than a cpu, or none of their own.
    results.add(invariants.longest(), !has_quotas && cpus >= most_users);
  }
  kernel = nullptr;
}

int run(Arguments const& a) {
  std::signal(SIGABRT, on_abort);
  auto const rounds = a.rounds > 0 ? a.rounds : (a.steps + steps_of_a_round - 1) / steps_of_a_round;
  std::printf("seed %llu\n", static_cast<unsigned long long>(a.seed));
  std::fflush(stdout);
  Random seeds(a.seed);
  Results results;
  for (std::uint64_t r = 0; r < rounds; ++r) {
    play(r == 0 ? a.seed : seeds.bits(), a.tell != 0, results);
  }
  std::printf("%llu steps\n", static_cast<unsigned long long>(rounds * steps_of_a_round));
  bool is_vacuous = false;
  for (std::size_t i = 0; i < seen_names.size(); ++i) {
    auto const count = results.seen[i];
    std::printf("%12llu  %s\n", static_cast<unsigned long long>(count), seen_names[i]);
    is_vacuous |= count == 0;
  }
  auto const tell = [](char const* what, Time us) {
    std::printf("%s for %.3f s, at most\n", what, static_cast<double>(us) / 1e6);
  };
  auto const& l = results.longest;
  tell("a user asked without getting any cpu", l.asking);
  tell("a lease beyond its user's part kept another user from its own", l.beyond);
  tell("beside a hostile user, nothing was asked back for a user", l.unasked);
  tell("beside a hostile user, a region waited that was not placed", l.waiting);
  tell("beside a hostile user, a user had less than its part", l.below_part);
  if (!is_vacuous || a.rounds > 0) return EXIT_SUCCESS;
  std::printf("some of these never happened: the simulation proves nothing about them\n");
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace simulation

int main(int argc, char** argv) { return simulation::run(simulation::parse(argc, argv)); }
