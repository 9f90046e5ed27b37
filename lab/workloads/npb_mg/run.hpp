// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run as the benchmark prescribes it, and its report.

#include <string>

#include "npb_mg/variant.hpp"

namespace npb_mg {

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
