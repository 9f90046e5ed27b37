// SPDX-License-Identifier: Apache-2.0
#include "simulation/liars.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include "coordinator/protocol/codec.hpp"
#include "platform/local_socket.hpp"
#include "platform/shared_memory.hpp"

namespace simulation {

using namespace nigh::coordinator;

namespace {
constexpr unsigned hostile_user = 2000;
}  // namespace

void Liars::come() {
  auto& process = kernel->new_process(2000 + world->random().below(2));
  world->spawn(&process, "liar", [this] { run(); });
}

Register Liars::some_program() {
  auto& random = world->random();
  Register m{.pid = random.below(9), .name = Name("liar")};
  for (int c = 0; c < host_.cpus() + 2; ++c)
    if (random.one_in(2)) m.allowed.add(c);
  m.allowed.add(0);
  m.listens = static_cast<std::uint8_t>(random.below(2));
  m.binary = random.below(3);
  return m;
}

ProgramMessage Liars::some_message() {
  auto& random = world->random();
  auto const cpus = static_cast<std::uint32_t>(host_.cpus());
  // Most leases there are; those of others among them.
  auto const lease = LeaseId{1} + random.below(random.one_in(2) ? 8 : 100'000);
  auto const maximum = random.below(cpus + 2);
  Demand const demand{maximum, random.below(maximum + 1)};
  switch (random.below(10)) {
    case 0:
      return some_program();
    case 1:
      world->saw(Seen::forged_release);
      return Release{lease};
    case 2: {
      CpuTeam team;
      for (auto n = 1 + random.below(4), c = random.below(cpus); n > 0; --n)
        team.add(static_cast<int>(c++));
      return Claim{1, random.below(8), demand, team};
    }
    case 3:
      return Report{random.below(3), 1 + random.below(cpus), 1 + random.below(400'000'000),
                    random.one_in(2) ? 0 : random.below(last_trial + 1)};
    case 4:
      return Query{random.below(40)};
    default:
      return Request{random.below(3),
                     random.below(200),
                     demand,
                     random.one_in(2) ? unknown_place : random.below(cpus + 2),
                     random.one_in(2) ? 0 : lease,
                     random.one_in(4) ? 0 : 1 + random.below(200'000)};
  }
}

// False: the connection is over.
bool Liars::send(int socket) {
  auto& random = world->random();
  auto const frame = encode(some_message());
  auto const bytes = frame.bytes();
  std::array<std::byte, largest_message + 1> other{};
  std::memcpy(other.data(), bytes.data(), bytes.size());
  auto size = bytes.size();
  bool const is_wrong = random.one_in(64);
  if (is_wrong) {
    world->saw(Seen::malformed);
    world->log("sends what is no message");
    for (auto n = random.below(3); n > 0; --n)
      other[random.below(static_cast<std::uint32_t>(size))] ^=
          static_cast<std::byte>(1U << random.below(8));
    size = random.one_in(2) ? size : random.below(static_cast<std::uint32_t>(other.size()));
  }
  if (is_wrong && size > 1 && random.one_in(2)) {
    world->saw(Seen::cut_message);
    auto const first = 1 + random.below(static_cast<std::uint32_t>(size) - 1);
    return nigh::platform::send_message(socket, {other.data(), first}) == 0 &&
           nigh::platform::send_message(socket, {other.data() + first, size - first}) == 0;
  }
  return nigh::platform::send_message(socket, {other.data(), size}) == 0;
}

void Liars::spoil(LeasePage& page) {
  auto& random = world->random();
  world->saw(Seen::forged_page);
  auto const slot = random.below(lease_slots);
  std::uint64_t word = random.below(8) == 0 ? random.bits() : random.below(400);
  if (random.one_in(2)) {
    std::memcpy(static_cast<void*>(&page.lines[slot]), &word, sizeof word);
  } else {
    std::memcpy(static_cast<void*>(&page.answers[slot]), &word, sizeof word);
  }
}

void Liars::run() {
  auto& random = world->random();
  int const socket = nigh::platform::connect_local("");
  LeasePage* page = nullptr;
  if (socket >= 0) {
    if (!random.one_in(8))
      nigh::platform::send_message(socket, encode(ProgramMessage{some_program()}).bytes());
    bool const reads = !random.one_in(4);
    for (auto n = random.spread(1, 2'000); n > 0; --n) {
      if (!send(socket)) break;
      for (std::array<std::byte, largest_message> bytes; reads;) {
        auto const arrived = nigh::platform::receive_message(socket, bytes);
        if (arrived.size <= 0) break;
        if (arrived.passed < 0) continue;
        page =
            static_cast<LeasePage*>(nigh::platform::map_shared(arrived.passed, sizeof(LeasePage)));
        nigh::platform::close_descriptor(arrived.passed);
      }
      if (page != nullptr && random.one_in(4)) spoil(*page);
      world->sleep(random.spread(0, 20'000));
    }
  }
  kernel->kill(self());
}

// Twice as many as there is room for all users together: some of them are always refused.
void Liars::besiege() {
  for (std::size_t n = 2 * host_.most_connections(); n > 0; --n) {
    auto& process = kernel->new_process(hostile_user);
    world->spawn(&process, "besieger", [this] { hold_on(); }, world->random().spread(0, 500'000));
  }
}

// False: the connection is over.
bool Liars::take_all_messages(int socket, bool gives_back, std::vector<LeaseId>& held) {
  for (std::array<std::byte, largest_message> bytes;;) {
    auto const arrived = nigh::platform::receive_message(socket, bytes);
    if (arrived.passed >= 0) nigh::platform::close_descriptor(arrived.passed);
    if (arrived.size == -EAGAIN) return true;
    if (arrived.size <= 0) return false;
    auto const decoded =
        decode_from_coordinator({bytes.data(), static_cast<std::size_t>(arrived.size)});
    auto const* const message = std::get_if<CoordinatorMessage>(&decoded);
    if (message == nullptr) continue;
    if (auto const* const grant = std::get_if<Grant>(message)) held.push_back(grant->lease);
    auto const* const revoke = std::get_if<Revoke>(message);
    if (revoke == nullptr || !gives_back) continue;
    if (std::erase(held, revoke->lease) == 0) continue;
    auto const frame = encode(ProgramMessage{Release{revoke->lease}});
    if (nigh::platform::send_message(socket, frame.bytes()) != 0) return false;
  }
}

// It asks for all cpus, again and again. It gives its leases back never, or when it is asked, or
// after some time, and asks anew in the same message.
void Liars::hold_on() {
  auto& random = world->random();
  enum class Way : std::uint8_t { keeps_all, when_asked, after_a_while };
  auto const way = static_cast<Way>(random.below(3));
  auto const cpus = static_cast<std::uint32_t>(host_.cpus());
  auto& held = held_.emplace_back();
  for (;;) {
    int const socket = nigh::platform::connect_local("");
    auto about = some_program();
    for (int c = 0; c < host_.cpus(); ++c) about.allowed.add(c);
    about.listens = 1;
    held.clear();
    Ticket ticket = 0;
    bool lives = socket >= 0 &&
                 nigh::platform::send_message(socket, encode(ProgramMessage{about}).bytes()) == 0;
    for (auto rounds = random.spread(2, 2'000); lives && rounds > 0; --rounds) {
      for (auto n = random.spread(0, 70); lives && n > 0; --n) {
        LeaseId returned = 0;
        if (way == Way::after_a_while && !held.empty() && random.one_in(4)) {
          returned = held.back();
          held.pop_back();
        }
        Request const request{
            random.below(3), ++ticket, {cpus, random.one_in(4) ? 1 : cpus},
            unknown_place,   returned, random.one_in(4) ? 1 + random.below(500'000) : 0};
        lives = nigh::platform::send_message(socket, encode(ProgramMessage{request}).bytes()) == 0;
        if (!lives) break;
      }
      world->sleep(random.spread(1'000, 300'000));
      lives = lives && take_all_messages(socket, way == Way::when_asked, held);
    }
    if (socket >= 0) nigh::platform::close_descriptor(socket);
    world->sleep(random.spread(1'000, 1'000'000));
  }
}

}  // namespace simulation
