// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages between ranks: a header, and the fields of its kind. Fields are copied as they lie in
// memory; ranks of another version, or with other functions, are refused when the session starts.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/assert.hpp"
#include "cluster/transport.hpp"

namespace nigh::cluster {

inline constexpr std::uint32_t wire_version = 9;

enum class Kind : std::uint8_t {
  steal,     // may I have some tasks?
  tasks,     // the answer, `count` of them: a TaskHead and the input of each; or placed ones
  placed,    // one task, to be run there
  lifeline,  // may I have some tasks, whenever there are some?
  fed,       // the answer to that, as `tasks`; never none
  result,    // of one task: a ResultHead and its output
  stop,      // the run is over: a ResultHead and the root's output
  failed,    // to the root: a free task has thrown; a ResultHead and what
  wave,      // of termination detection: a TerminationMessage
  beat,      // the sender is there: the first run whose verdict a rank may not know, which counts from the
             // root, and a SessionSize
  silent,    // the rank of that number says nothing, and is left out: from the root, or its deputy
  parts,     // the sender has no more runs
  size,      // how many ranks should work: a SessionSize
  checkpoint,  // a CheckpointHead, a name, and the bytes of a piece
};

struct Header {
  Kind kind;
  std::uint8_t spare;
  std::uint16_t count;
  std::uint32_t run;  // runs are numbered from 1
};

// The name that a task's owner gives it when it leaves.
using Token = std::uint64_t;
// A bit of that name: the task is of an isolated region (isolate.hpp), on whichever rank it runs. The root
// task and free tasks, whose names have all bits or almost all, never are.
constexpr Token isolated_mark = Token{1} << 61;

struct TaskHead {
  std::uint32_t function;
  std::int32_t owner;
  Token token;
  std::uint64_t input_bytes;
};

struct ResultHead {
  Token token;  // of the root: its function
  std::int32_t rank;  // the one that ran it
  std::uint32_t failed;
};

// A task that has come, or waits to go.
struct Task {
  std::uint32_t function = 0;
  int owner = 0;
  Token token = 0;
  bool stays = false;  // must run on this rank
  bytes input;
  std::uint16_t came_with = 0;  // for a steal's first task: how many the steal brought
  std::uint32_t run = 0;        // for a root task
  bool is_again = false;        // a rank that had it was lost; known here only
};

// A task's result, or the text of its exception.
struct Outcome {
  bool failed = false;
  int rank = 0;  // the one that ran it
  bytes output;
  std::uint32_t function = 0;  // of the root
};

class Writer {
 public:
  template <class T>
  void put(T const& field) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(room(sizeof field), &field, sizeof field);
  }
  void put(byte_view raw) {
    if (!raw.empty()) std::memcpy(room(raw.size()), raw.data(), raw.size());
  }
  std::byte* room(std::size_t n) {
    message_.resize(message_.size() + n);
    return message_.data() + message_.size() - n;
  }
  void clear() noexcept { message_.clear(); }
  // Overwrites the header, which comes first.
  void set(Header const& h) noexcept { std::memcpy(message_.data(), &h, sizeof h); }
  byte_view view() const noexcept { return message_; }
  bytes take() noexcept { return std::move(message_); }

 private:
  bytes message_;
};

class Reader {
 public:
  explicit Reader(byte_view message) noexcept : rest_(message) {}
  template <class T>
  T get() noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T field;
    std::memcpy(&field, get(sizeof field).data(), sizeof field);
    return field;
  }
  byte_view get(std::size_t n) noexcept {
    NIGH_ASSERT(n <= rest_.size(), "a message is whole");
    auto const got = rest_.first(n);
    rest_ = rest_.subspan(n);
    return got;
  }
  byte_view rest() const noexcept { return rest_; }

 private:
  byte_view rest_;
};

inline void put_task(Writer& to, Task const& t) {
  to.put(TaskHead{t.function, t.owner, t.token, t.input.size()});
  to.put(byte_view(t.input));
}

inline Task get_task(Reader& from) {
  auto const head = from.get<TaskHead>();
  auto const input = from.get(static_cast<std::size_t>(head.input_bytes));
  return {head.function, head.owner, head.token, false, bytes(input.begin(), input.end())};
}

inline void put_outcome(Writer& to, Outcome const& o, Token token) {
  to.put(ResultHead{token, o.rank, o.failed ? 1u : 0u});
  to.put(byte_view(o.output));
}

inline Outcome get_outcome(Reader& from) {
  auto const head = from.get<ResultHead>();
  auto const output = from.rest();
  return {head.failed != 0, head.rank, bytes(output.begin(), output.end()),
          static_cast<std::uint32_t>(head.token)};
}

}  // namespace nigh::cluster
