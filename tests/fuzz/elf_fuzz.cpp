// SPDX-License-Identifier: Apache-2.0
// Any bytes for what is read of programs' files by nigh itself: what they need and import, and
// which functions they bring along.
#include "fuzz/entry.hpp"
#include "fuzz/temporary_files.hpp"
#include "platform/elf.hpp"
#include "platform/elf_functions.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static fuzz::TemporaryFiles const files;
  auto const file = files.write("program", fuzz::text_of(data, size));
  static_cast<void>(nigh::platform::defines_any(file.c_str(), nigh::platform::openmp_functions));
  auto const facts = nigh::platform::read_elf(file);
  if (!facts) return 0;
  std::size_t bytes = facts->library_name.size();
  for (auto const& name : facts->needed) bytes += name.size();
  for (auto const& name : facts->imports) bytes += name.size();
  fuzz::require(bytes <= size, "names are no longer than the file");
  return 0;
}
