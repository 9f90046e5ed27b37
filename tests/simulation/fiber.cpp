// SPDX-License-Identifier: Apache-2.0
#include "simulation/fiber.hpp"

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define SIMULATION_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMULATION_ASAN 1
#endif
#endif
#ifdef SIMULATION_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simulation {
namespace {

Fiber* running = nullptr;

#ifdef SIMULATION_ASAN
void begin_switch(void** keep, void const* stack, std::size_t bytes) {
  __sanitizer_start_switch_fiber(keep, stack, bytes);
}
void end_switch(void* kept, void const** from = nullptr, std::size_t* bytes = nullptr) {
  __sanitizer_finish_switch_fiber(kept, from, bytes);
}
void forget_poison(void* stack, std::size_t bytes) { __asan_unpoison_memory_region(stack, bytes); }
#else
void begin_switch(void**, void const*, std::size_t) {}
void end_switch(void*, void const** = nullptr, std::size_t* = nullptr) {}
void forget_poison(void*, std::size_t) {}
#endif

}  // namespace

std::vector<Fiber::Stack>& Fiber::spare_stacks() {
  static std::vector<Stack> spare;
  return spare;
}

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  auto& spare = spare_stacks();
  if (spare.empty()) {
    stack_ = Stack(new std::byte[stack_bytes]);
  } else {
    stack_ = std::move(spare.back());
    spare.pop_back();
  }
  ::getcontext(&own_);
  own_.uc_stack.ss_sp = stack_.get();
  own_.uc_stack.ss_size = stack_bytes;
  own_.uc_link = nullptr;
  ::makecontext(&own_, begin, 0);
}

Fiber::~Fiber() {
  forget_poison(stack_.get(), stack_bytes);
  spare_stacks().push_back(std::move(stack_));
}

void Fiber::run() {
  running = this;
  begin_switch(&loop_fake_stack_, stack_.get(), stack_bytes);
  ::swapcontext(&loop_, &own_);
  end_switch(loop_fake_stack_);
  running = nullptr;
}

void Fiber::begin() {
  Fiber* const self = running;
  end_switch(nullptr, &self->loop_stack_, &self->loop_stack_bytes_);
  self->body_();
  self->is_over_ = true;
  pause();
}

void Fiber::pause() {
  Fiber* const self = running;
  begin_switch(self->is_over_ ? nullptr : &self->fake_stack_, self->loop_stack_,
               self->loop_stack_bytes_);
  ::swapcontext(&self->own_, &self->loop_);
  end_switch(self->fake_stack_, &self->loop_stack_, &self->loop_stack_bytes_);
}

}  // namespace simulation
