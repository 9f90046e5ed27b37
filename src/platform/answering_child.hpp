// SPDX-License-Identifier: Apache-2.0
#pragma once
// A child of this process that answers questions about files that may be hostile. Its errors, and
// taking too much of anything, end the child alone.

#include <cstdint>
#include <functional>
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

class AnsweringChild {
 public:
  using Answer = std::function<std::string(std::string_view question)>;

  struct Bounds {
    int seconds = 20;               // of cpu time in all; half as much again for an answer
    std::optional<User> user = {};  // whose rights it has; only root may take another's
  };

  // `make` runs in the child, and makes the object that answers there.
  static std::optional<AnsweringChild> start(Bounds const& bounds,
                                             std::function<Answer()> const& make);

  AnsweringChild(AnsweringChild&& from) noexcept;
  AnsweringChild& operator=(AnsweringChild&&) = delete;
  ~AnsweringChild();

  // Empty: the child has ended, or does not answer in time. Questions and answers have at most
  // `longest_message` bytes.
  std::optional<std::string> ask(std::string_view question);
  static constexpr std::size_t longest_message = 32'768;

 private:
  AnsweringChild(int process, int socket, int seconds)
      : process_(process), socket_(socket), seconds_(seconds) {}

  int process_;
  int socket_;
  int seconds_;
};

// In such a child: allows so many bytes of memory beyond all that was allowed before.
void allow_memory(std::uint64_t bytes);

}  // namespace nigh::platform
