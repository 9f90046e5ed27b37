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

  // `name` stands for it.
  result<void> add(int descriptor, std::uint64_t name);
  void remove(int descriptor) noexcept;

  // Names of those that something has happened to, for as long as the next wait(). Empty after
  // this time, which may be without end, or a signal.
  std::span<std::uint64_t const> wait(std::optional<std::int64_t> timeout_us);

 private:
  explicit EventSet(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::array<std::uint64_t, 64> names_{};
};

}  // namespace nigh::platform
