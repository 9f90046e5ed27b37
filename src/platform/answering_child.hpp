// SPDX-License-Identifier: Apache-2.0
#pragma once
// A child of this process for work that may crash, take all memory or never end: it reads what
// anybody may have written. An error there ends the child alone.

#include <chrono>
#include <cstdint>
#include <functional>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace nigh::platform {

struct User {
  unsigned id = 0;
  unsigned group = 0;
  bool is_us = false;
};

// The user whom all rights of a process come from; empty when the process is gone, or has the
// rights of several users, as a set-user-id program. (The owner of its folder in /proc does not
// tell: it is root as soon as the process asks for that; see PR_SET_DUMPABLE in prctl(2).)
std::optional<User> user_of(int process);

struct ChildLimits {
  std::uint64_t memory_bytes = 32 << 20;  // on top of what this process has
  std::uint64_t answer_bytes = 32'768;
  std::chrono::seconds processor_time{20};        // for all answers
  std::chrono::milliseconds answer_time{30'000};  // for each
  std::optional<User> user = {};  // whose rights it has; only root may take another's
};

// The child has one thread, no signal handler and no descriptor besides its socket; its prints are
// lost. It is killed with this object, which waits 100 ms at most for its end; later children's
// starts and ends look for it again.
class AnsweringChild {
 public:
  // Returns nothing where there is no answer, which ends the child.
  using Answer = std::function<std::optional<std::string>(std::string_view question)>;

  // `make` runs in the child, and makes what answers there. An error: there can be no child.
  static result<AnsweringChild> start(ChildLimits const& limits,
                                      std::function<Answer()> const& make);

  AnsweringChild(AnsweringChild&& from) noexcept;
  AnsweringChild& operator=(AnsweringChild&&) = delete;
  ~AnsweringChild() { end(); }

  // Empty: it has crashed, went beyond a limit, or had no answer. It is killed then, and answers
  // nothing more.
  std::optional<std::string> ask(std::string_view question);

 private:
  AnsweringChild(int process, int socket, ChildLimits const& limits)
      : process_(process), socket_(socket), limits_(limits) {}
  void end();

  int process_;
  int socket_;
  ChildLimits limits_;
};

// In such a child: room for so many bytes of memory on top of all that was allowed before.
void allow_memory(std::uint64_t bytes);

// The answer of `work` in a child of its own. An error: there can be no child.
result<std::optional<std::string>> do_apart(std::function<std::optional<std::string>()> const& work,
                                            ChildLimits const& limits);

}  // namespace nigh::platform
