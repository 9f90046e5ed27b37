// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waiting for any of many descriptors.

#include <array>
#include <cstdint>
#include <nigh/result.hpp>
#include <optional>
#include <span>

namespace nigh::platform {

class EventSet {
 public:
  static result<EventSet> make();
  EventSet(EventSet&& from) noexcept;
  EventSet& operator=(EventSet&&) = delete;
  ~EventSet();

  // Adds a descriptor, which wait() returns as `name`. The reserved name is an error.
  static constexpr std::uint64_t reserved_name = ~std::uint64_t{0};
  result<void> add(int descriptor, std::uint64_t name);
  // From now on, an added descriptor reports room to send, not arrivals.
  result<void> await_room(int descriptor, std::uint64_t name);
  void remove(int descriptor) noexcept;

  // Names of the descriptors that something has happened to, valid until the next wait(). Empty
  // after this time, which may be endless, or after a signal. Up to a millisecond late.
  std::span<std::uint64_t const> wait(std::optional<std::int64_t> timeout_us);

 private:
  EventSet(int descriptor, int timer) : descriptor_(descriptor), timer_(timer) {}
  result<void> change(int how, int descriptor, std::uint64_t name, std::uint32_t events);
  void set_timer(std::int64_t due_us) noexcept;
  std::span<std::uint64_t const> look(int timeout_ms);

  int descriptor_;
  // A timeout of the wait itself would be set and ended each time, which costs a microsecond or two
  // in a virtual machine. This timer stays until it is over, or an earlier one is due.
  int timer_;
  std::optional<std::int64_t> due_us_{};
  std::array<std::uint64_t, 64> names_{};
};

}  // namespace nigh::platform
