// SPDX-License-Identifier: Apache-2.0
#pragma once
// A second process that sleeps on a word in shared memory: what waking it takes at least, for
// whoever then waits awake for its answer there. A header alone, as echo_process.hpp.

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace bench {

class WakeProcess {
 public:
  // It forks, so it is made before threads are.
  WakeProcess() {
    void* const page =
        mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::runtime_error("there is no shared memory to be had");
    words_ = new (page) Words;
    other_ = fork();
    if (other_ == 0) answer();
    if (other_ < 0) throw std::runtime_error("there is no second process to be had");
  }
  ~WakeProcess() {
    tell(last);
    waitpid(other_, nullptr, 0);
    munmap(words_, sizeof(Words));
  }
  WakeProcess(WakeProcess&&) = delete;
  WakeProcess& operator=(WakeProcess&&) = delete;

  // Wakes it, and waits awake for what it says then.
  void ask() {
    tell(++asked_);
    while (words_->answer.load(std::memory_order_acquire) != asked_) {
    }
  }

 private:
  struct Words {
    alignas(64) std::atomic<std::uint32_t> question{0};
    alignas(64) std::atomic<std::uint32_t> answer{0};
  };
  static constexpr std::uint32_t last = UINT32_MAX;

  void tell(std::uint32_t what) {
    words_->question.store(what, std::memory_order_release);
    syscall(SYS_futex, &words_->question, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  [[noreturn]] void answer() {
    for (std::uint32_t said = 0; said != last;) {
      auto const now = words_->question.load(std::memory_order_acquire);
      if (now == said) {
        syscall(SYS_futex, &words_->question, FUTEX_WAIT, said, nullptr, nullptr, 0);
        continue;
      }
      said = now;
      words_->answer.store(said, std::memory_order_release);
    }
    _exit(0);
  }

  Words* words_ = nullptr;
  std::uint32_t asked_ = 0;
  pid_t other_ = -1;
};

}  // namespace bench
