// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "bench/calibrate/measure.hpp"
#include "bench/stream.hpp"

namespace bench {

namespace {

struct Free {
  void operator()(double* p) const noexcept { std::free(p); }
};

// Two arrays whose pages lie where the pinned threads touched them first.
class Arrays {
 public:
  Arrays(Crew& owners, std::size_t bytes) : count_(bytes / sizeof(double) / 8 * 8) {
    for (auto* array : {&from_, &to_}) {
      constexpr std::size_t page = 4096;
      array->reset(
          static_cast<double*>(std::aligned_alloc(page, (bytes + page - 1) / page * page)));
      if (*array == nullptr) throw std::bad_alloc();
    }
    owners.run([&](int thread) {
      auto const t = static_cast<std::size_t>(thread);
      auto const n = static_cast<std::size_t>(owners.size());
      for (double* array : {from_.get(), to_.get()})
        std::memset(array + count_ * t / n, 1,
                    (count_ * (t + 1) / n - count_ * t / n) * sizeof *array);
    });
  }

  Samples gb_per_s(Crew& crew, Stores stores, int repetitions) {
    double const moved = static_cast<double>(count_) * (stores == Stores::streaming ? 16 : 24);
    Samples samples;
    for (int n = -1; n < repetitions; ++n) {  // the first one warms up
      double const s = seconds_to_copy(crew, from_.get(), to_.get(), count_, stores);
      if (n >= 0) samples.push_back(moved / s * 1e-9);
    }
    return samples;
  }

 private:
  std::size_t count_;
  std::unique_ptr<double, Free> from_, to_;
};

void append(Samples& all, Samples const& more) { all.insert(all.end(), more.begin(), more.end()); }

}  // namespace

Bandwidths measure_bandwidths(nigh::topology const& machine, Effort const& effort) {
  Bandwidths found;
  found.streaming = streaming_copy_available();
  auto const stores = found.streaming ? Stores::streaming : Stores::plain;
  for (int d = 0; d < machine.cpu_domains(); ++d) {
    auto const& cpus = machine.domains()[static_cast<std::size_t>(d)].cpus;
    Crew all(cpus), one({cpus.front()});
    Arrays near(all, effort.array_bytes);
    append(found.thread, near.gb_per_s(one, stores, effort.repetitions));
    append(found.controller, near.gb_per_s(all, stores, effort.repetitions));
    for (int other = 0; other < machine.cpu_domains(); ++other) {
      if (other == d) continue;
      auto const& there = machine.domains()[static_cast<std::size_t>(other)].cpus;
      Crew all_there(there), one_there({there.front()});
      append(found.thread_far, near.gb_per_s(one_there, stores, effort.repetitions));
      append(found.link, near.gb_per_s(all_there, stores, effort.repetitions));
    }
  }
  return found;
}

}  // namespace bench
