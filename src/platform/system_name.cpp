// SPDX-License-Identifier: Apache-2.0
#include "platform/system_name.hpp"

#include <sys/utsname.h>

#include <ctime>
#include <fstream>

namespace nigh::platform {
namespace {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    auto const colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

std::string system_name() {
  utsname system{};
  if (::uname(&system) != 0) return processor_name();
  return processor_name() + ", " + system.sysname + " " + system.release;
}

std::string now_utc() {
  std::time_t const t = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string kernel_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return std::getline(file, id) ? id : system_name();
}

}  // namespace nigh::platform
