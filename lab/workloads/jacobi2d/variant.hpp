// SPDX-License-Identifier: Apache-2.0
#pragma once
// A variant is one way to work on blocks in parallel: so many at a time, so many threads on one.
// All of them call the same kernel.

#include <cstdint>
#include <functional>
#include <memory>
#include <nigh/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "jacobi2d/blocks.hpp"

namespace jacobi2d {

// How a block's rows are divided among its threads: statically, as OpenMP says it.
struct RowSchedule {
  int chunk = 0;          // rows; 0: as many as give each thread one chunk (nigh: its own schedule)
  bool collapse = false;  // rows and strips of columns as one loop, instead

  bool operator==(RowSchedule const&) const = default;
};

inline constexpr int strip = 512;  // columns

// Threads to run on, the same for every variant, and what is chosen about them.
struct Team {
  nigh::topology const* machine = nullptr;
  std::vector<int> cpus;           // of thread t; as many as threads
  bool (*pin)(int cpu) = nullptr;  // pins the calling thread; null: leave threads where they are
  int spread = 1;                  // threads on one block, for variants that ask
  int active = 0;                  // threads at work at once, likewise; 0: all
  RowSchedule rows;
  // Of many processes that choose together: the longest of their times. Called by all alike.
  std::function<double(double seconds)> agree;

  int threads() const noexcept { return static_cast<int>(cpus.size()); }
  void pin_thread(int thread) const {
    if (pin != nullptr) pin(cpus[static_cast<std::size_t>(thread)]);
  }
};

// Of a variant that chooses for itself, by trials.
struct Chosen {
  int spread = 0, active = 0;  // of the next iteration; 0: it chooses nothing
  int trials = 0;
  bool holds = true;  // it tries nothing at the moment

  bool operator==(Chosen const&) const = default;
};

class Variant {
 public:
  virtual ~Variant() = default;
  virtual Chosen chosen() const { return {}; }
  // Calls body() where run() is then called from: a runtime may want a thread of its own for that.
  virtual void inside(std::function<void()> const& body) { body(); }
  virtual void run(Work& work) = 0;  // returns when all blocks are through
};

struct VariantInfo {
  std::string name = {};  // "openmp-gcc/nested"
  // Which choices of Team it asks for.
  bool by_spread = false, by_active = false, by_rows = false;
  bool chooses = false;  // spread and more for itself: has something chosen()
  std::unique_ptr<Variant> (*make)(Team const&) = nullptr;  // null: absent
  std::string why_absent = {};
};

// All variants, absent peers included, in the order tables show them.
std::vector<VariantInfo> const& variants();

// By its name; "openmp/..." stands for whichever compiler's OpenMP is there.
VariantInfo const* find_variant(std::string_view name);

// One function per file that adds variants.
void add_serial(std::vector<VariantInfo>& list);
void add_openmp(std::vector<VariantInfo>& list);
void add_nigh(std::vector<VariantInfo>& list);

// A run: first values, iterations, checksum. In parts, for processes that wait for each other.

void fill(Variant& variant, Blocks& blocks);
double iterate(Variant& variant, Blocks& blocks, int iterations);  // seconds; may be called again
std::uint64_t checksum(Variant& variant, Blocks& blocks);

}  // namespace jacobi2d
