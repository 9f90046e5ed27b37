// SPDX-License-Identifier: Apache-2.0
#include "platform/launch.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "platform/affinity.hpp"
#include "platform/program.hpp"

namespace nigh::platform {
namespace {

// The setting that the system refused.
std::vector<std::string> apply(Launch const& launch) {
  std::vector<std::string> refused;
  for (auto const& name : launch.removed) ::unsetenv(name.c_str());
  for (auto const& v : launch.variables) {
    auto const equals = v.find('=');
    ::setenv(v.substr(0, equals).c_str(), v.substr(equals + 1).c_str(), 1);
  }
  if (!launch.cpus.empty())
    if (auto const pinned = pin_this_thread(launch.cpus); !pinned)
      refused.push_back(pinned.message() + "; the program may run on any allowed cpu");
  if (launch.memory)
    if (auto const set = set_memory_policy(*launch.memory); !set)
      refused.push_back(set.message() + "; pages go where the system puts them");
  return refused;
}

}  // namespace

NotStarted become(Launch const& launch, Complain const& complain) {
  auto const refused = apply(launch);
  for (auto const& what : refused) complain(what);
  if (launch.strict && !refused.empty()) return {"not started, because --strict", 125};
  std::vector<std::string> words = launch.words;
  auto const pointers = pointers_to(words);
  ::execvp(pointers.front(), pointers.data());
  return {"cannot run " + launch.words.front() + ": " + std::strerror(errno),
          errno == ENOENT ? 127 : 126};
}

void die_of(int signal) {
  rlimit no_core{};  // the program has left a core dump, if any
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + signal);
}

}  // namespace nigh::platform
