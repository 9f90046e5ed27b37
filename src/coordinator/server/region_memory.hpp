// SPDX-License-Identifier: Apache-2.0
#pragma once
// The knowledge of programs' regions, which the owner of the server keeps from one of their runs to
// the next. That is files, and a file may take seconds where others keep the disk busy. So a thread
// of its own does it, one job after the other, user by user, and the server hears later of what it
// wanted to know.

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

// Its regions are the same in all programs that load it.
struct KnownLibrary {
  std::uint32_t number = 0;  // in ids of its regions
  std::string path;
  std::uint64_t binary = 0;  // by which it is known again
};

struct KnownProgram {
  std::string name;
  std::string path;          // empty: not known
  std::uint64_t binary = 0;  // by which it is known again; 0: it is not
  unsigned user = 0;
  platform::ProcessIdentity process{};    // or none
  std::string interpreter{};              // that runs it, if it is a script
  std::vector<KnownLibrary> libraries{};  // that regions were seen in
};

struct Recollection {
  KnownProgram program;  // as far as it is known by now
  std::vector<KnownRegion> regions;
};

// Without these, nothing is kept. Called by one thread, which is not the server's.
struct Keeper {
  std::function<Recollection(KnownProgram const&)> recall{};
  // Of one library that the program has loaded since, by its number.
  std::function<Recollection(KnownProgram const&, std::uint32_t)> look{};
  std::function<void(KnownProgram const&, std::vector<KnownRegion> const&)> remember{};
};

class RegionMemory {
 public:
  // Jobs that wait. Where there is but one user, nobody else needs room.
  static constexpr policy::UserLimit shared_by_users{1024, 16};
  static constexpr policy::UserLimit of_one_user{1024, 1024};

  explicit RegionMemory(Keeper keeper, policy::UserLimit pending = shared_by_users);
  // After all that is to be remembered is.
  ~RegionMemory();
  RegionMemory(RegionMemory&&) = delete;

  struct Recalled {
    Connection whose = 0;
    Recollection what;
  };

  // Of programs that were asked for, after what was to be remembered of that user before. False:
  // nothing is recalled, for the user has too many jobs waiting, or there is nothing to ask.
  bool recall(Connection whose, KnownProgram const& program);
  bool look(Connection whose, KnownProgram const& program, std::uint32_t library);
  // False: it is let go, for too much waits already, or there is no thread to be had.
  bool remember(KnownProgram program, std::vector<KnownRegion> regions);
  // Readable when something has been recalled.
  int descriptor() const noexcept { return bell_.descriptor(); }
  std::vector<Recalled> take_recalled();

 private:
  struct Question {
    Connection whose;
    KnownProgram program;
    std::uint32_t library = 0;  // 0: all there is
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
