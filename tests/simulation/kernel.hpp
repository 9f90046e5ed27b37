// SPDX-License-Identifier: Apache-2.0
#pragma once
// The simulated host's processes, descriptors and local sockets. Sockets do what Linux's do that
// carry whole messages (SOCK_SEQPACKET): a message arrives at once, whole, in order and once, or is
// refused because the buffer is full. Delays come about because readers wake up late; a connection
// ends when a side closes or shuts it, or dies; unread messages are lost where Linux loses them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "coordinator/protocol/lease_word.hpp"
#include "platform/cgroup.hpp"
#include "simulation/world.hpp"

namespace simulation {

// One connection between a program and the server, as both sides' sockets know it.
struct Link {
  std::uint64_t name = 0;  // as the server calls it; 0: it has not let it in
  int program = 0;         // its process
  bool is_cut = false;     // one side has ended it, whether the other knows or not
};

class EventQueue;

struct File {
  virtual ~File() = default;
  virtual bool is_readable() const { return false; }
  void notify();

  std::vector<Task*> waiting;
  EventQueue* events = nullptr;
};
using FilePointer = std::shared_ptr<File>;

struct Message {
  std::vector<std::byte> bytes;
  FilePointer passed{};
};

struct Socket final : File {
  ~Socket() override;
  bool is_readable() const override { return !inbox.empty() || is_ended || is_reset; }
  void end();  // shutdown(), both ways

  Socket* peer = nullptr;  // null: it is closed
  std::deque<Message> inbox;
  bool is_ended = false;  // nothing comes any more behind what is in the inbox
  bool is_reset = false;  // the other side closed without reading all
  std::size_t room = 64;  // messages
  int process = 0;        // that made it
  std::shared_ptr<Link> link;
};

struct Listener final : File {
  ~Listener() override;
  bool is_readable() const override { return !backlog.empty(); }
  std::deque<std::shared_ptr<Socket>> backlog;
};

// A page of leases, zeroes at first.
class Memory final : public File {
 public:
  struct alignas(nigh::coordinator::LeasePage) Bytes {
    std::array<std::byte, sizeof(nigh::coordinator::LeasePage)> all{};
  };
  Memory();
  ~Memory() override;
  void* at() noexcept { return bytes_->all.data(); }

 private:
  std::unique_ptr<Bytes> bytes_;
};

struct Signal final : File {
  bool is_readable() const override { return has_come; }
  bool has_come = false;
};

// The files that an EventSet waits for.
class EventQueue {
 public:
  ~EventQueue();
  void add(FilePointer const& file, std::uint64_t name);
  void remove(File* file);
  void collect(std::vector<std::uint64_t>& names, std::size_t most, std::uint32_t first) const;
  Task* waiting = nullptr;

 private:
  struct One {
    std::uint64_t name;
    FilePointer file;
  };
  std::vector<One> all_;
};

struct Process {
  int pid = 0;
  unsigned user = 1000;
  std::map<int, FilePointer> files;
  int next_file = 1000;
  std::map<void*, FilePointer> mapped;
  bool is_stopped = false;
  bool is_dead = false;
  Time stopped_at = 0;
  // How long the host holds its tasks up, all of them together, with what is still to come.
  std::int64_t lag = 0;
  struct Late {
    Time from, until;
  };
  std::vector<Late> late;  // those of its tasks that are, or will be
  // How long it has held them up before now.
  std::int64_t lag_before(Time now) const {
    auto before = lag;
    for (auto const& one : late) before -= std::max<Time>(0, one.until - std::max(now, one.from));
    return before;
  }
  std::uint64_t unsent = 0;  // messages for which a buffer had no room
  int cpu = 0;               // it runs at
  std::int64_t worked = 0;
  nigh::coordinator::LeaseId last_grant = 0;  // by message
  Time last_grant_at = 0;
  nigh::platform::CpuGrants grants{};
  std::map<void const*, std::vector<Task*>> asleep;  // by futex
  // Files that its tasks wait for. A killed task cannot let go what its stack holds.
  std::map<Task*, FilePointer> awaited;

  int install(FilePointer file);
  FilePointer file(int number) const;
  template <class Kind>
  std::shared_ptr<Kind> get(int number) const {
    return std::dynamic_pointer_cast<Kind>(file(number));
  }
};

class Kernel {
 public:
  Process& new_process(unsigned user);
  void kill(Process& process);
  void stop(Process& process);
  void resume(Process& process);
  // Has its parent's descriptors, and no memory or task yet.
  Process& fork(Process& parent);
  Process* find(int pid);
  std::vector<std::unique_ptr<Process>> const& processes() const noexcept { return processes_; }
  void forget_dead();

  int connect();  // to the server, by the process that runs
  Listener* listener = nullptr;
  Process* server = nullptr;
  std::vector<std::shared_ptr<Link>> links;  // by when they were made; cut ones for a while

  // Of the host.
  std::vector<bool> external_load;  // keep this cpu busy
  std::vector<std::int64_t> busy, idle;
  Time times_at = 0;
  std::vector<int> regions_at;  // by cpu: how many teams run there
  bool has_descriptors = true;
  bool has_memory = true;
  int socket_room = 64;

  // The bytes on the host's wires, for callers that count them.
  void note_sent(Socket const& from, std::span<std::byte const> bytes);
  void note_received(Socket const& at, std::span<std::byte const> bytes);
  std::function<void(int program)> on_patient_request{};

 private:
  std::vector<std::unique_ptr<Process>> processes_;
  int last_pid_ = 100;
};

extern Kernel* kernel;

// Of the task that runs.
inline Process& self() { return *world->current()->process; }
// Sleeps until the descriptor is readable or is closed, or until then.
bool wait_for(int descriptor, Time until);

}  // namespace simulation
