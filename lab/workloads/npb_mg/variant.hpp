// SPDX-License-Identifier: Apache-2.0
#pragma once
// A variant is one way to run the V-cycles in parallel. All of them call the same operators.

#include <memory>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "npb_mg/fields.hpp"

namespace npb_mg {

// Threads to run on, the same for every variant.
struct Team {
  nigh::topology const* machine = nullptr;
  std::vector<int> cpus;           // of thread t; as many as threads
  bool (*pin)(int cpu) = nullptr;  // pins the calling thread; null: leave threads where they are
  Kernel const* kernel = nullptr;

  int threads() const noexcept { return static_cast<int>(cpus.size()); }
  void pin_thread(int thread) const {
    if (pin != nullptr) pin(cpus[static_cast<std::size_t>(thread)]);
  }
};

struct Outcome {
  Sums first, last;            // of the residual before the first V-cycle and after the last
  bool solution_in_r = false;  // the finest u has ended in r's memory
};

class Variant {
 public:
  virtual ~Variant() = default;
  // Zeros all fields, so that pages which nobody has touched appear where the loops will use them.
  virtual void clear(Fields& fields) = 0;
  // r = v - A u and its norm, so many V-cycles each followed by r = v - A u, and the norm: what the
  // benchmark times. Expects cleared fields with charges in v.
  virtual Outcome solve(Fields& fields, Weights const& smoother, int iterations) = 0;
};

struct VariantInfo {
  std::string name;                                         // "openmp-gcc/static"
  std::unique_ptr<Variant> (*make)(Team const&) = nullptr;  // null: absent
  std::string why_absent;
};

// All variants, absent peers included, in the order tables show them.
std::vector<VariantInfo> const& variants();

// By its name; "openmp/..." stands for whichever compiler's OpenMP is there.
VariantInfo const* find_variant(std::string_view name);

// One function per file that adds variants.
void add_serial(std::vector<VariantInfo>& list);
void add_openmp(std::vector<VariantInfo>& list);
void add_tbb(std::vector<VariantInfo>& list);
void add_cilk(std::vector<VariantInfo>& list);
void add_fastflow(std::vector<VariantInfo>& list);
void add_nigh(std::vector<VariantInfo>& list);
void add_nigh_fused(std::vector<VariantInfo>& list);

// One run as the benchmark prescribes it, and its report.

struct Result {
  double seconds = 0;  // of the timed part; charges, zeroing and the untimed V-cycle come before it
  Sums residual;       // last one's: squares are the sum over all points
  double norm = 0, first_norm = 0;  // root mean squares, after and before the V-cycles
  bool verified = false;
  double mops = 0;
  bool solution_in_r = false;
};

// Told when the timed part begins and ends.
struct Watch {
  virtual ~Watch() = default;
  virtual void begin() = 0;
  virtual void end() = 0;
};

// Zeroes, charges, one V-cycle to warm up; zeroes and charges again, then the timed part.
Result run(Variant& variant, Fields& fields, Class const& size, Charges const& charges,
           Watch* watch = nullptr);

// The benchmarks' closing lines.
std::string report(Result const& result, Class const& size, std::string const& variant,
                   int threads);

}  // namespace npb_mg
