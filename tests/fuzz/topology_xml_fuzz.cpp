// SPDX-License-Identifier: Apache-2.0
// Any bytes for topology::from_xml(): hwloc reads them in a child, whose crash is no finding. Only
// what it has written anew there comes back, and this process takes no harm from it.
#include "fuzz/entry.hpp"
#include "fuzz/temporary_files.hpp"
#include "fuzz/topology_asked.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::keep_plugins();
  static fuzz::TemporaryFiles const files;
  auto const machine =
      nigh::topology::from_xml(files.write("machine.xml", fuzz::text_of(data, size)));
  if (machine)
    fuzz::ask_everything(*machine);
  else
    fuzz::require(!machine.message().empty(), "a refusal has a reason");
  return 0;
}
