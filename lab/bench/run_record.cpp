// SPDX-License-Identifier: Apache-2.0
// Where, when and with what.
#include <nigh/version.hpp>

#include "bench/results.hpp"
#include "platform/system_name.hpp"

namespace bench {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

RunRecord record_run(nigh::topology const& machine) {
  RunRecord r;
  r.commit = NIGH_COMMIT;
  r.compiler = compiler();
  r.flags = NIGH_FLAGS;
  r.machine = nigh::platform::system_name();
  r.topology = machine.description();
  r.date = nigh::platform::now_utc();
  return r;
}

}  // namespace bench
