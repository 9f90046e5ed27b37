// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread of the simulated host: it has a stack of its own and runs until it pauses. All of them
// share one real thread, so nothing depends on the host's scheduler.

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace simulation {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  // One that has not ended is forgotten as a killed thread is: no destructor runs on its stack.
  ~Fiber();
  Fiber(Fiber&&) = delete;

  // By the loop: until the fiber pauses or ends.
  void run();
  // By the fiber that runs.
  static void pause();
  bool is_over() const noexcept { return is_over_; }

 private:
  static constexpr std::size_t stack_bytes = 256 * 1024;
  using Stack = std::unique_ptr<std::byte[]>;

  static void begin();
  static std::vector<Stack>& spare_stacks();

  std::function<void()> body_;
  Stack stack_;
  ucontext_t own_{};
  ucontext_t loop_{};
  bool is_over_ = false;
  // Of the address sanitizer.
  void* fake_stack_ = nullptr;
  void* loop_fake_stack_ = nullptr;
  void const* loop_stack_ = nullptr;
  std::size_t loop_stack_bytes_ = 0;
};

}  // namespace simulation
