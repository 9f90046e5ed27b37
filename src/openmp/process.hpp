// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shim in its host: its settings, whether it acts at all, how it begins and ends.

#include <stdarg.h>
#include <stdio.h>

#include <cstddef>
#include <cstdint>

#include "openmp/own_cpus.hpp"
#include "openmp/team_size.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct Process {
  bool acts = false;         // false: passes everything on
  bool tells = false;        // NIGH_VERBOSE
  bool is_helper = false;    // of the program that `nigh run` has started
  bool is_forked = false;    // a child of the process that was started
  bool waits_awake = false;  // members of nested teams, for a while
  bool fixes_teams = false;  // OMP_DYNAMIC says that teams keep their size
};
extern NIGH_HIDDEN constinit Process this_process;  // process.cpp writes it
inline Process const& process() noexcept { return this_process; }

// For the line at the end. Counted only in a process that prints it.
NIGH_HIDDEN void count_region(GrantedTeam const& granted) noexcept;

// The thread's lease client ends with it. False: there is no memory, or the thread is ending.
NIGH_HIDDEN bool give_lease_client(Thread& me) noexcept;

// Messages are taken apart on the stack, and a coroutine's may be small.
NIGH_HIDDEN bool has_room_on_unknown_stack(Thread& me) noexcept;
inline bool has_room_for_messages(Thread& me) noexcept {
  constexpr std::size_t needed = std::size_t{48} * 1024;
  if (me.stack.low == nullptr && !has_room_on_unknown_stack(me)) [[unlikely]]
    return false;
  if (me.stack.low == nullptr) [[unlikely]]
    return true;
  auto const* const here = static_cast<char const*>(__builtin_frame_address(0));
  return me.stack.holds(here) && static_cast<std::size_t>(here - me.stack.low) >= needed;
}

// A line for people on standard error, written in one piece: several programs may end at a time.
class ToldLine {
 public:
  ToldLine() = default;
  ToldLine(ToldLine&&) = delete;
  ToldLine& operator=(ToldLine&&) = delete;
  ~ToldLine() { fprintf(stderr, "%s\n", text_); }

  // Text beyond the room is left out.
  __attribute__((format(printf, 2, 3))) void add(char const* format, ...) {
    va_list values;
    va_start(values, format);
    int const added = vsnprintf(text_ + length_, sizeof text_ - length_, format, values);
    va_end(values);
    if (added < 0) return;
    length_ += static_cast<std::size_t>(added);
    if (length_ >= sizeof text_) length_ = sizeof text_ - 1;
  }

 private:
  char text_[1024] = {};
  std::size_t length_ = 0;
};

}  // namespace nigh::openmp
