// SPDX-License-Identifier: Apache-2.0
// A runtime whose coordinator ends as soon as it has granted cpus, again and again, or has none.

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
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

enum class Has : std::uint8_t { a_cpu, none };

class ShortLived {
 public:
  explicit ShortLived(std::filesystem::path const& path, Has has = Has::a_cpu)
      : has_(has),
        listener_(platform::listen_local(path, platform::Carries::messages, 0600)),
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
  // Of the last request.
  std::uint32_t patience_us() const { return patience_us_; }

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
        patience_us_ = request->patience_us;
        ++lives_;
        if (has_ == Has::none) {
          send(socket, Unplaced{request->ticket});
          while (auto const again = await<Request>(socket)) send(socket, Unplaced{again->ticket});
          platform::close_descriptor(socket);
          return;
        }
        CpuTeam team;
        team.add(::sched_getcpu());
        send(socket,
             Grant{.lease = 1, .ticket = request->ticket, .wanted = 2, .floats = 0, .team = team});
      }
    }
    platform::close_descriptor(socket);
  }

  Has has_;
  result<int> listener_;
  int page_;
  std::atomic<std::uint32_t> patience_us_{0};
  std::atomic<bool> ends_{false};
  std::atomic<int> lives_{0};
  std::thread thread_;
};

TEST(ArenaLeases, AreAskedForAgainHoweverSoonTheCoordinatorIsGone) {
  if (nigh::this_host().cpus().size() < 2) GTEST_SKIP() << "one worker shares nothing";
  test::TemporaryFolder const folder;
  auto const socket = folder.path() / "nighd.sock";
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
}

// It says for how long it would wait, and then has all its workers.
TEST(ArenaLeases, AreNotWaitedForForLong) {
  if (nigh::this_host().cpus().size() < 2) GTEST_SKIP() << "one worker shares nothing";
  test::TemporaryFolder const folder;
  auto const socket = folder.path() / "nighd.sock";
  {
    ShortLived coordinator(socket, Has::none);
    ::setenv("NIGH_SOCKET", socket.c_str(), 1);
    nigh::runtime rt({.workers = 2});
    std::atomic<int> inside{0};
    while (coordinator.lives() == 0) {
      rt.spawn([] {});
      rt.wait();
    }
    for (int i = 0; i < 2; ++i)  // each waits for the other, which takes both workers
      rt.spawn([&] {
        ++inside;
        while (inside < 2) std::this_thread::yield();
      });
    rt.wait();
    EXPECT_EQ(inside, 2);
    EXPECT_GT(coordinator.patience_us(), 0u);
  }
}

}  // namespace
}  // namespace nigh::coordinator
