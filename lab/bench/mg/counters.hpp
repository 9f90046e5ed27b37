// SPDX-License-Identifier: Apache-2.0
#pragma once
// Misses of the last cache, by the processor's own counters, where PAPI was there to build with and
// the machine lets us read them.

#include <memory>
#include <optional>
#include <string>

#include "npb_mg/run.hpp"

namespace bench {

// To be made before the threads that are counted: they inherit it.
class MissCounter : public npb_mg::Watch {
 public:
  MissCounter();
  ~MissCounter() override;
  MissCounter(MissCounter const&) = delete;
  MissCounter& operator=(MissCounter const&) = delete;

  void begin() override;
  void end() override;
  std::optional<long long> misses() const noexcept { return misses_; }
  std::string const& why_not() const noexcept { return why_not_; }  // "not available here: ..."

 private:
  std::string why_not_;
  struct Events;  // PAPI's; null when there are none
  std::unique_ptr<Events> events_;
  std::optional<long long> misses_;
};

}  // namespace bench
