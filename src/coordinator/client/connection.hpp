// SPDX-License-Identifier: Apache-2.0
#pragma once
// This process's link to the coordinator.
//
// Nothing here throws, allocates, or needs a C++ runtime that others' programs have not; it is
// preloaded into them. Without a coordinator, and whenever something goes wrong with it, programs
// run as if there were none. A program may wait for cpus for as long as it takes, and then notices
// within two seconds that a coordinator does not answer. Or (ConnectionOptions::waits_briefly) none
// of its regions waits for long: where others hold the cpus it runs without its own, and so it does
// where the coordinator has not answered in time; such a one is not asked again for a while.
//
// A thread that waits for an answer looks for it in the shared page (answer.hpp) for as long as one
// takes that is there at once: to sleep and wake takes longer. After that, any of the threads that
// wait listens for all of them, one at a time (turn.hpp), and hands what is not its own to whom it
// is for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/atomic.hpp"
#include "coordinator/client/listener_lock.hpp"
#include "coordinator/protocol/codec.hpp"
#include "coordinator/protocol/lease_word.hpp"
#include "platform/own_socket.hpp"

namespace nigh::coordinator {

class LeaseClient;

struct ConnectionOptions {
  char const* socket = nullptr;  // its path
  char const* name = "";         // for people
  CpuSet allowed{};
  JobRank rank{};
  bool listens = false;        // some thread waits at socket() all the time, and then looks
  std::uint64_t binary = 0;    // by which it is known again
  bool waits_briefly = false;  // and runs without cpus of its own rather than stand still
};

// One per process. After fork() the child has none until it joins again: it calls drop().
class ClientConnection {
 public:
  ClientConnection() noexcept = default;
  ~ClientConnection();
  ClientConnection(ClientConnection const&) = delete;
  ClientConnection& operator=(ClientConnection const&) = delete;

  // False: there is no coordinator. Tried again by itself, at most once a second.
  bool join(ConnectionOptions const& options) noexcept;
  // In a child of fork(): forgets all, to no effect on its parent.
  void drop() noexcept;
  bool is_joined() const noexcept { return link() != 0; }
  // Whether the coordinator that was there at the last try speaks another version of the protocol.
  bool found_foreign() const noexcept { return found_foreign_.load(sync::relaxed); }

  // That the coordinator serves, this one among them; a hint. 0: there is no coordinator.
  std::uint32_t programs() const noexcept {
    return is_joined() ? page_->host.programs.load(sync::relaxed) : 0;
  }

  // For who listens.
  int socket() const noexcept { return is_joined() ? socket_.number() : -1; }
  void look() noexcept;  // at what has arrived, without waiting
  // From any thread: whoever waits for an answer gets none, now and later.
  void close() noexcept;

  // From any thread: the process closes the descriptors from `first` to `last`, or puts others
  // there. A link that has its socket among them is lost at once. True: end_closing() follows.
  bool begin_closing(unsigned first, unsigned last) noexcept;
  void end_closing() noexcept { socket_.end_closing(); }

 private:
  friend class LeaseClient;
  using Clock = std::int64_t;  // microseconds

  // The number of the connection there is, 0: none. What belongs to another one is void.
  std::uint32_t link() const noexcept { return link_.load(sync::acquire); }  // (P)
  bool rejoin() noexcept;
  bool connect() noexcept;
  bool shake_hands() noexcept;
  std::optional<bool> hear_welcome() noexcept;
  bool install(int page) noexcept;

  bool attach(LeaseClient& master) noexcept;
  void detach(LeaseClient& master) noexcept;
  bool send(ProgramMessage const& message) noexcept;
  void release(LeaseId lease) noexcept;
  void send_and_wait(LeaseClient& master, ProgramMessage const& message, std::uint32_t link,
                     Clock patience) noexcept;
  bool hear_awake(LeaseClient& master, std::uint32_t link) noexcept;
  void listen(Clock at_most) noexcept;
  bool hear() noexcept;
  LeaseClient* waiting_for(Ticket ticket) noexcept;
  void take(Grant const& grant) noexcept;
  void take(Refusal const& refusal) noexcept;
  void take(Unplaced const& message) noexcept;
  void lose() noexcept;
  bool is_silent(Clock now) noexcept;
  void hear_late_answers() noexcept;
  void note_silence(Clock now) noexcept;

  LeaseWord& word(std::uint32_t slot) noexcept { return page_->at(slot); }
  RegionWord advice(RegionId region) const noexcept { return page_->regions.find(region); }

  // (M) Who finds a master sees it whole, and once a place is free, its last one has done with it.
  // (P) Who sees a link's number sees its page, which is where that of the link before was. The
  //     number changes together with the socket, so that nothing is sent over another link's.
  sync::atomic<std::uint32_t> link_{0};
  ListenerLock turn_;  // whoever has it listens, and may change all that follows
  // Threads that want the turn to leave: others who wait for answers let them have it.
  sync::atomic<std::uint32_t> leaving_{0};
  LeasePage* page_ = nullptr;
  platform::OwnSocket socket_;
  std::uint32_t last_link_ = 0;
  std::uint32_t forgotten_links_ = 0;  // a parent's, before fork()
  bool may_join_ = false;
  bool waits_briefly_ = false;
  sync::atomic<bool> is_closed_{false};
  bool asked_whether_alive_ = false;
  sync::atomic<bool> found_foreign_{false};
  sync::atomic<Clock> next_try_{0};
  Clock pause_ = 0;  // between tries
  // It has not answered in time: until when it is not asked, and for how long that was; 0: it has.
  sync::atomic<Clock> silent_until_{0};
  sync::atomic<Clock> silence_{0};
  std::array<char, 108> path_{};
  Register me_{};
  std::array<sync::atomic<LeaseClient*>, lease_slots>
      masters_{};  // by slot; theirs to fill and clear
};

}  // namespace nigh::coordinator
