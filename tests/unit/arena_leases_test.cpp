// SPDX-License-Identifier: Apache-2.0
// A runtime whose coordinator ends as soon as it has granted cpus, again and again.

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <thread>

#include "coordinator/protocol/codec.hpp"
#include "coordinator/protocol/lease_word.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "platform/shared_memory.hpp"

namespace nigh::coordinator {
namespace {

class ShortLived {
 public:
  explicit ShortLived(std::filesystem::path const& path)
      : listener_(platform::listen_local(path, platform::Carries::messages, 0600)),
        page_(platform::make_shared_memory(sizeof(LeasePage))),
        thread_([this] {
          while (!ends_) live_once();
        }) {}
  ~ShortLived() {
    ends_ = true;
    thread_.join();
    platform::close_descriptor(*listener_);
    platform::close_descriptor(page_);
  }

  int lives() const { return lives_; }

 private:
  template <class Message>
  std::optional<Message> await(int socket) {
    std::array<std::byte, largest_message> bytes;
    while (!ends_) {
      int const size = platform::receive_bytes(socket, bytes);
      if (size == -EAGAIN) {
        platform::wait_until_readable(socket, 10);
        continue;
      }
      if (size <= 0) break;
      auto const decoded = decode_from_program({bytes.data(), static_cast<std::size_t>(size)});
      auto const* const message = std::get_if<ProgramMessage>(&decoded);
      if (message != nullptr && std::holds_alternative<Message>(*message))
        return std::get<Message>(*message);
      if (message != nullptr && std::holds_alternative<Claim>(*message))
        refuse(socket, std::get<Claim>(*message).ticket);
    }
    return {};
  }

  static void send(int socket, CoordinatorMessage const& message, int passed = -1) {
    platform::send_message(socket, encode(message).bytes(), passed);
  }
  static void refuse(int socket, Ticket ticket) {
    send(socket, Refusal{ticket, Refusal::Reason::malformed});
  }

  void live_once() {
    if (!platform::wait_until_readable(*listener_, 10)) return;
    int const socket = platform::accept_local(*listener_);
    if (socket < 0) return;
    if (await<Register>(socket)) {
      send(socket, Welcome{.program = 1, .cpus = 1}, page_);
      if (auto const request = await<Request>(socket)) {
        CpuTeam team;
        team.add(::sched_getcpu());
        send(socket,
             Grant{.lease = 1, .ticket = request->ticket, .wanted = 2, .floats = 0, .team = team});
        ++lives_;
      }
    }
    platform::close_descriptor(socket);
  }

  result<int> listener_;
  int page_;
  std::atomic<bool> ends_{false};
  std::atomic<int> lives_{0};
  std::thread thread_;
};

TEST(ArenaLeases, AreAskedForAgainHoweverSoonTheCoordinatorIsGone) {
  if (nigh::this_host().cpus().size() < 2) GTEST_SKIP() << "one worker shares nothing";
  char name[] = "/tmp/nigh-test-XXXXXX";
  std::filesystem::path const folder = ::mkdtemp(name);
  auto const socket = folder / "nighd.sock";
  {
    ShortLived coordinator(socket);
    ::setenv("NIGH_SOCKET", socket.c_str(), 1);
    nigh::runtime rt({.workers = 2});
    auto const patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::atomic<long> ran{0};
    while (coordinator.lives() < 20 && std::chrono::steady_clock::now() < patience) {
      for (int i = 0; i < 100; ++i) rt.spawn([&] { ++ran; });
      rt.wait();
    }
    EXPECT_GE(coordinator.lives(), 20);
    EXPECT_EQ(ran % 100, 0);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nigh::coordinator
