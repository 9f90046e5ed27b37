// SPDX-License-Identifier: Apache-2.0
#pragma once
// A second process, to learn what a message there and back takes. It sleeps until one comes. A
// header alone, for programs that are linked to nothing else of the benchmarks.

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace bench {

class EchoProcess {
 public:
  // Answers are so large. It forks, so it is made before threads are.
  explicit EchoProcess(std::size_t answer_bytes) : answer_(answer_bytes) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
      throw std::runtime_error("there is no pair of sockets to be had");
    other_ = fork();
    if (other_ == 0) {
      close(ends[0]);
      std::vector<char> message(most_bytes);
      while (recv(ends[1], message.data(), message.size(), 0) > 0)
        if (send(ends[1], answer_.data(), answer_.size(), 0) < 0) break;
      _exit(0);
    }
    close(ends[1]);
    end_ = ends[0];
    if (other_ > 0) return;
    close(end_);
    throw std::runtime_error("there is no second process to be had");
  }
  ~EchoProcess() {
    close(end_);
    waitpid(other_, nullptr, 0);
  }
  EchoProcess(EchoProcess&&) = delete;
  EchoProcess& operator=(EchoProcess&&) = delete;

  // Sends so many bytes, up to most_bytes, and waits for the answer.
  void ask(std::size_t bytes) {
    char message[most_bytes] = {};
    if (send(end_, message, bytes, MSG_NOSIGNAL) < 0 ||
        recv(end_, answer_.data(), answer_.size(), 0) <= 0)
      throw std::runtime_error("the second process does not answer");
  }

  static constexpr std::size_t most_bytes = 64;

 private:
  std::vector<char> answer_;
  pid_t other_ = -1;
  int end_ = -1;
};

}  // namespace bench
