// SPDX-License-Identifier: Apache-2.0
// Where, when and with what.
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <nigh/version.hpp>

#include "bench/results.hpp"

namespace bench {

namespace {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) {
      auto const colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "unknown processor";
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string now_utc() {
  std::time_t const t = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

RunRecord record_run(nigh::topology const& machine) {
  utsname system{};
  uname(&system);
  RunRecord r;
  r.commit = NIGH_COMMIT;
  r.compiler = compiler();
  r.flags = NIGH_FLAGS;
  r.machine = processor_name() + ", " + system.sysname + " " + system.release;
  r.topology = machine.description();
  r.date = now_utc();
  return r;
}

}  // namespace bench
