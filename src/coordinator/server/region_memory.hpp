// SPDX-License-Identifier: Apache-2.0
#pragma once
// The knowledge of programs' regions, kept from one of their runs to the next in files. A file may
// take seconds on a busy disk. So a thread of its own does the work, one job after the other, users
// in round robin; the server hears later what it wanted to know.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator/server/user_queue.hpp"
#include "platform/bell.hpp"
#include "platform/process_identity.hpp"

namespace nigh::coordinator {

// A library's regions are the same in all programs that load it.
struct KnownLibrary {
  std::uint32_t number = 0;  // in ids of its regions
  std::string path;
  std::uint64_t binary = 0;  // its identity
};

struct KnownProgram {
  std::string name;
  std::string path;          // empty: not known
  std::uint64_t binary = 0;  // its identity; 0: unknown
  unsigned user = 0;
  platform::ProcessIdentity process{};    // or none
  std::string interpreter{};              // if it is a script, the program that runs it
  std::vector<KnownLibrary> libraries{};  // whose regions were seen
};

struct Recollection {
  KnownProgram program;  // as far as it is known by now
  std::vector<KnownRegion> regions;
};

// The functions that keep files; without them, nothing is kept. One thread calls them, not the
// server's.
struct Keeper {
  std::function<Recollection(KnownProgram const&)> recall{};
  // Of one library that the program has loaded since, by its number.
  std::function<Recollection(KnownProgram const&, std::uint32_t)> look{};
  std::function<void(KnownProgram const&, std::vector<KnownRegion> const&)> remember{};
};

class RegionMemory {
 public:
  // Waiting jobs. A single user has all the room.
  static constexpr policy::UserLimit shared_by_users{1024, 16};
  static constexpr policy::UserLimit of_one_user{1024, 1024};

  explicit RegionMemory(Keeper keeper, policy::UserLimit pending = shared_by_users);
  // After the jobs that store its knowledge.
  ~RegionMemory();
  RegionMemory(RegionMemory&&) = delete;

  struct Recalled {
    Connection whose = 0;
    Recollection what;
  };

  // About programs that were asked for, after the jobs that store that user's knowledge. False:
  // nothing is read, for the user has too many jobs waiting, or there is nothing to ask.
  bool recall(Connection whose, KnownProgram const& program);
  bool look(Connection whose, KnownProgram const& program, std::uint32_t library);
  // False: it is dropped, for too much waits already, or the system has no more threads.
  bool remember(KnownProgram program, std::vector<KnownRegion> regions);
  // Readable when something has been read.
  int descriptor() const noexcept { return bell_.descriptor(); }
  std::vector<Recalled> take_recalled();

 private:
  struct Question {
    Connection whose;
    KnownProgram program;
    std::uint32_t library = 0;  // 0: the program itself and all its libraries
  };
  struct Lesson {
    KnownProgram program;
    std::vector<KnownRegion> regions;
  };
  using Job = std::variant<Question, Lesson>;

  bool add(unsigned user, Job job);
  bool has_thread();
  void work();
  void carry_out(Question const& question);
  void carry_out(Lesson const& lesson) { keeper_.remember(lesson.program, lesson.regions); }

  Keeper keeper_;
  platform::Bell bell_;
  std::mutex lock_;  // of what follows
  std::condition_variable news_;
  UserQueue<Job> jobs_;
  std::vector<Recalled> recalled_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace nigh::coordinator
