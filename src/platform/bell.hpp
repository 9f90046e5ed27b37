// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wakes a thread that sleeps on a socket, too.

#include <cstdint>
#include <optional>

namespace nigh::platform {

class Bell {
 public:
  Bell() noexcept;
  ~Bell();
  Bell(Bell&&) = delete;
  Bell& operator=(Bell&&) = delete;

  bool is_in_order() const noexcept { return descriptor_ >= 0; }  // false: the system refused
  void ring() noexcept;
  // Readable when the bell has rung since the last wait(), for an EventSet.
  int descriptor() const noexcept { return descriptor_; }
  // Waits until the bell has rung since the last time, something has arrived at the socket (-1:
  // none), or the time is over. May return early.
  void wait(int socket, std::optional<std::int64_t> timeout_us) noexcept;
  // In a child of fork(): the bell stays the parent's.
  void drop() noexcept;

 private:
  int descriptor_;
};

}  // namespace nigh::platform
