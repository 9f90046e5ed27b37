// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/spawn_floor.hpp"

#include <array>
#include <atomic>

namespace bench {

namespace {

struct alignas(32) Slot {
  std::uint64_t (*call)(int);
  std::uint64_t result;
  int n;
  std::uint32_t thief;
};
static_assert(sizeof(Slot) == 32);

constexpr std::size_t capacity = 64;  // no recursion here goes deeper

struct Stack {
  Slot* top;
  Slot* split;  // below are the shared ones
  std::atomic<bool> wanted{false};
  std::array<Slot, capacity> slots;
};

std::uint64_t stolen(int n) { return static_cast<std::uint64_t>(n); }

[[gnu::noinline, gnu::cold]] void share(Stack& stack) { stack.split = stack.top; }
[[gnu::noinline, gnu::cold]] std::uint64_t result_of(Slot const& slot) { return slot.result; }

// Kept a call each, as the serial variant is.
[[gnu::noinline]] std::uint64_t descriptors(Slot* top, int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  top->call = stolen;
  top->n = n - 1;
  std::uint64_t const b = descriptors(top + 1, n - 2);
  return descriptors(top, top->n) + b;
}

[[gnu::noinline]] std::uint64_t split_stack(Stack& stack, int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  Slot* const slot = stack.top;
  slot->call = stolen;
  slot->n = n - 1;
  slot->thief = 0;
  stack.top = slot + 1;
  if (stack.wanted.load(std::memory_order_relaxed)) [[unlikely]]
    share(stack);
  std::uint64_t const b = split_stack(stack, n - 2);
  stack.top = slot;
  if (slot < stack.split) [[unlikely]]
    return result_of(*slot) + b;
  return split_stack(stack, slot->n) + b;
}

}  // namespace

std::uint64_t fib_by_descriptors(int n) {
  std::array<Slot, capacity> slots;
  return descriptors(slots.data(), n);
}

std::uint64_t fib_by_split_stack(int n) {
  Stack stack;
  stack.top = stack.split = stack.slots.data();
  return split_stack(stack, n);
}

}  // namespace bench
