// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spread: how many workers work on one block of a task loop at a time. Fixed, or found while the
// program runs.

#include <nigh/detail/cxx20.hpp>

#include <functional>
#include <memory>
#include <nigh/detail/export.hpp>
#include <nigh/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nigh {

class spread {
 public:
  // More than there are means all. At least 1.
  constexpr explicit spread(int workers) noexcept : workers_(workers) {}
  static spread const all;
  // The spread with which a spread_site's loop takes the least time.
  static spread const automatic;

  constexpr int workers() const noexcept { return workers_; }  // of automatic: 0
  constexpr bool is_automatic() const noexcept { return workers_ == 0; }
  constexpr bool operator==(spread const&) const = default;

 private:
  int workers_;
};
inline constexpr spread spread::all{1 << 30};
inline constexpr spread spread::automatic{0};

// "auto", "all", or a number of at least 1; the error names the mistake.
NIGH_API result<spread> parse_spread(std::string_view text);
NIGH_API std::string to_string(spread s);

// The choice of spread::automatic for one task loop.
struct spread_choice {
  int spread = 1;
  int active = 1;  // workers that are at work
  int grain = 1;   // task_loop_options::grain

  bool operator==(spread_choice const&) const = default;
};

struct spread_site_options {
  // Ranks that run the loop together have to agree. Called after each iteration that counts, with
  // the time it took here; it returns the time to use, for instance the longest of all ranks' by
  // MPI_Allreduce. It must return the same on all ranks, or their choices differ.
  std::function<double(double seconds)> agree = {};
  // May it also have fewer workers at work than there are?
  bool fewer_workers = true;
  // Values of task_loop_options::grain that may be tried, for bodies that take an index_range.
  // Empty: grain stays as it is.
  std::vector<int> grains = {};
};

// One task loop of a program that is run again and again: what has been learnt about it, and which
// spread to try next. It tries about 20 configurations while the program does its work, and holds
// the best; it searches again when the loop's time changes for good. Where iterations differ so
// much that nothing can be learnt, it holds spread 1.
//
// Any thread may use it; of iterations at the same time, one counts. It must outlive its loops. A
// site with a name goes on in the program's next run where NIGH_SPREADS names a file, which it is
// written to when it is destroyed (docs/spread.md); other sites of the program must have other
// names.
class NIGH_API spread_site {
 public:
  explicit spread_site(std::string name = {}, spread_site_options options = {});
  ~spread_site();
  spread_site(spread_site&&) = delete;
  spread_site& operator=(spread_site&&) = delete;

  spread_choice next() const;  // for the next iteration; before the first, the usual one
  bool is_holding() const;     // it tries nothing at the moment
  int trials() const;          // configurations tried so far
  std::string const& name() const noexcept;

  struct state;

 private:
  friend struct spread_access;
  std::unique_ptr<state> state_;
};

}  // namespace nigh
