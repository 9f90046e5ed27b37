// SPDX-License-Identifier: Apache-2.0
#pragma once
// The OpenMP programs that share a host in this bench.

#include <sys/types.h>

#include <string>
#include <vector>

namespace bench {

struct SharingProgram {
  std::string name;                // as people read it: "npb-cg A"
  std::vector<std::string> words;  // [0]: its path
  std::vector<std::string>
      varying;               // lines of its output that tell times or threads, by their begin
  double comes_seconds = 0;  // behind the first of its set

  // Its output without the lines that may differ from run to run.
  std::string lasting(std::string const& output) const;
};

// All there are, at full size; or so many of them at random, of random sizes, which come so many
// seconds after each other on average. Tiny: to see that it works. std::runtime_error when this was
// built without OpenMP.
std::vector<SharingProgram> sharing_programs(bool tiny);
std::vector<SharingProgram> random_programs(bool tiny, int count, unsigned seed,
                                            double mean_pause_seconds);

std::string nigh_command();  // empty: there is none

// A coordinator of this bench's own, for as long as the object lives: nobody else's programs are in
// the measurement, and ours begin with a coordinator that knows nothing yet.

class Daemon {
 public:
  explicit Daemon(std::string const& policy);  // std::runtime_error: it does not serve
  ~Daemon();
  Daemon(Daemon&&) = delete;
  Daemon& operator=(Daemon&&) = delete;

  static std::string why_absent();  // empty: it is there
  std::string const& socket() const noexcept { return socket_; }

 private:
  void stop() noexcept;

  std::string folder_, socket_;
  pid_t pid_ = -1;
};

}  // namespace bench
