// SPDX-License-Identifier: Apache-2.0
#pragma once
// This process's connection to the coordinator: the socket, the page that both share, and the one
// thread at a time that listens for all. It carries requests and answers; leases belong to
// LeaseClient (lease_client.hpp), one for each thread.
//
// Nothing here throws, allocates, or needs a C++ runtime that the host program may lack: it is
// preloaded. Without a coordinator, and whenever something goes wrong with it, programs run as if
// there were none. Either a program waits for cpus for as long as it takes, and notices within two
// seconds that a coordinator does not answer. Or (ConnectionOptions::waits_briefly) none of its
// regions waits for long: it runs without cpus of its own where others hold them, and where the
// coordinator has not answered in time; such a coordinator is not asked again for a while. If it
// has not even welcomed the program, programs that come later do not ask it either for a while.
//
// A thread that waits for an answer looks for it in the shared page (answer.hpp) for as long as an
// immediate answer takes: to sleep and wake takes longer. After that, one of the waiting threads at
// a time listens for all, and hands over answers that are not its own (handover.hpp).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/atomic.hpp"
#include "base/try_lock.hpp"
#include "coordinator/client/handover.hpp"
#include "coordinator/protocol/codec.hpp"
#include "coordinator/protocol/lease_word.hpp"
#include "platform/own_socket.hpp"
#include "policy/cpus/lease_patience.hpp"

namespace nigh::coordinator {

struct ConnectionOptions {
  char const* socket = nullptr;  // its path
  char const* name = "";         // for people
  CpuSet allowed{};
  JobRank rank{};
  bool listens = false;        // a thread waits at socket() all the time, and then calls look()
  std::uint64_t binary = 0;    // the program's identity
  bool waits_briefly = false;  // and runs without cpus of its own instead of standing still
};

// One per process. After fork() the child has none until it joins again: it calls drop().
class ClientConnection {
 public:
  using Clock = std::int64_t;  // microseconds

  ClientConnection() noexcept = default;
  ~ClientConnection();
  ClientConnection(ClientConnection const&) = delete;
  ClientConnection& operator=(ClientConnection const&) = delete;

  // ---- the process

  // False: there is no coordinator. Tried again automatically, at most once a second.
  bool join(ConnectionOptions const& options) noexcept;
  // The process may use other cpus from now on: it joins anew with them, and its leases are gone.
  void renew_allowed(CpuSet const& allowed) noexcept;
  // In a child of fork(): forgets everything, without effect on the parent.
  void drop() noexcept;
  bool is_joined() const noexcept { return link() != 0; }
  // Whether the coordinator that was there at the last try speaks another version of the protocol.
  bool found_foreign() const noexcept { return found_foreign_.load(sync::relaxed); }

  // How many programs the coordinator serves, this one among them; a hint. 0: there is no
  // coordinator.
  std::uint32_t programs() const noexcept {
    return is_joined() ? page_->host.programs.load(sync::relaxed) : 0;
  }

  // For people: what has become of the program's tasks. One thread at a time.
  void tell_tasks(std::uint64_t made, std::uint64_t stolen) noexcept {
    if (!is_joined()) return;
    page_->tasks.made.store(made, sync::relaxed);
    page_->tasks.stolen.store(stolen, sync::relaxed);
  }

  // For a thread that listens all the time.
  int socket() const noexcept { return is_joined() ? socket_.number() : -1; }
  void look() noexcept;  // at what has arrived, without waiting
  // From any thread: threads that wait for an answer get none, now and later.
  void close() noexcept;

  // From any thread: the process closes the descriptors from `first` to `last`, or puts others
  // there. A link with its socket among them is lost at once. True: end_closing() follows.
  bool begin_closing(unsigned first, unsigned last) noexcept;
  void end_closing() noexcept { socket_.end_closing(); }

  // ---- LeaseClient

  // The number of the present connection, 0: none. Anything of another number is void.
  std::uint32_t link() const noexcept { return link_.load(sync::acquire); }  // (connection.P)
  // Whether that number belongs to this process, and not to its parent before fork().
  bool is_own(std::uint32_t link) const noexcept { return link > forgotten_links_; }
  bool rejoin() noexcept;
  bool waits_briefly() const noexcept { return waits_briefly_; }

  // Only while joined, or after that: the shared page.
  LeaseWord& word(std::uint32_t slot) noexcept { return page_->at(slot); }
  RegionWords::Seen advice(RegionId region) const noexcept { return page_->regions.find(region); }

  // Gives the thread a slot in the page. False: all are taken.
  bool attach(PendingRequest& request) noexcept;
  void detach(PendingRequest& request) noexcept;
  // Sends the message, which carries the request's ticket, over this link; waits until the answer
  // is there, the link is gone, or the answer is late. `patience`: 0 (as long as it takes), or what
  // the message tells the coordinator.
  Handover::Is ask(PendingRequest& request, ProgramMessage const& message, std::uint32_t link,
                   Clock patience) noexcept;
  bool send(ProgramMessage const& message) noexcept;
  void release(LeaseId lease) noexcept;
  bool is_silent(Clock now) noexcept;
  // How long a thread may wait for its first cpus. Threads that come and go have one budget, and
  // each of their waits is lost time: the cpus go back when the thread ends.
  Clock patience_of_new_thread(Clock now) noexcept;
  void new_thread_has_waited(Clock wait, Clock now) noexcept;

 private:
  bool connect() noexcept;
  bool shake_hands() noexcept;
  std::optional<bool> hear_welcome() noexcept;
  bool install(int page) noexcept;

  void wait_for_answer(PendingRequest& request, ProgramMessage const& message, std::uint32_t link,
                       Clock patience) noexcept;
  bool hear_awake(PendingRequest& request, std::uint32_t link) noexcept;
  void listen(Clock at_most) noexcept;
  bool hear() noexcept;
  PendingRequest* pending(Ticket ticket) noexcept;
  void hand_over(Grant const& grant) noexcept;
  void hand_over(Ticket ticket, Handover::Is answer) noexcept;
  void lose() noexcept;
  void hear_late_answers() noexcept;
  void take_from_listener() noexcept;
  void give_to_listeners() noexcept;
  void note_silence(Clock now) noexcept;

  // (connection.M) A thread that finds a request sees it whole, and once a slot is free, the thread
  // that had it has finished with it.
  // (connection.P) A thread that sees a link's number sees its page, which replaces that of the
  // link before. The number changes together with the socket, so that nothing is sent over another
  // link's.
  sync::atomic<std::uint32_t> link_{0};
  // Its holder listens, and may change all that follows. It must not be cancelled: the thread's own
  // ~LeaseClient would wait for the lock for ever. So each public function that takes the lock is
  // Uncancelled (platform/uncancelled.hpp) as a whole.
  ListenerLock listener_;
  // Threads that want the lock in order to leave: threads that wait for answers let them go first.
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
  // The coordinator has not answered in time: until when it is not asked, and for how long that
  // was; 0: it has answered.
  sync::atomic<Clock> silent_until_{0};
  sync::atomic<Clock> silence_{0};
  // A thread that finds it locked has a budget of its own.
  base::TryLock counting_waits_;
  policy::LeasePatience patience_of_new_threads_;
  std::array<char, 108> path_{};
  Register me_{};
  // By slot; each thread fills and clears its own.
  std::array<sync::atomic<PendingRequest*>, lease_slots> requests_{};
};

}  // namespace nigh::coordinator
