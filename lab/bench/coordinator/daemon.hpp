// SPDX-License-Identifier: Apache-2.0
#pragma once
// A coordinator of this bench's own, for as long as the object lives: nobody else's programs are in
// the measurement, and ours begin with a coordinator that knows nothing yet.

#include <sys/types.h>

#include <string>

namespace bench {

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
