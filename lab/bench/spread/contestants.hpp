// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs with task loops, ready to be run again and again with one way to spread.

#include <functional>
#include <memory>
#include <nigh/spread.hpp>
#include <string>

#include "bench/spread/options.hpp"

namespace bench {

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual double run() = 0;             // seconds
  virtual bool verified() = 0;          // of the last run
  virtual bool holds() const = 0;       // its loops try nothing any more
  virtual int most_trials() const = 0;  // of a loop
};

// One program with its memory, which its contestants share.
struct ContestProgram {
  std::string name, size;
  std::function<std::unique_ptr<Contestant>(nigh::spread spread, int active)> make;
};

// --quick: small ones.
std::vector<ContestProgram> contest_programs(SpreadOptions const& options);

}  // namespace bench
