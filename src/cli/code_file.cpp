// SPDX-License-Identifier: Apache-2.0
// By libdw of elfutils: it reads every version of DWARF, compressed and split, and finds debug
// packages by build id. Servers of debug information are not asked: nobody waits for a network to
// see a table.

#include "cli/code_file.hpp"

#include <cxxabi.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>

namespace nigh::cli {

struct CodeFile::Opened {
  Dwfl* session = nullptr;
  Dwfl_Module* module = nullptr;
};

void CodeFile::Close::operator()(Opened* opened) const {
  dwfl_end(opened->session);
  delete opened;
}

namespace {

int no_file(Dwfl_Module*, void**, char const*, Dwarf_Addr, char**, Elf**) { return -1; }

Dwfl_Callbacks callbacks() {
  Dwfl_Callbacks use{};
  use.find_elf = no_file;
  use.find_debuginfo = dwfl_build_id_find_debuginfo;
  use.section_address = dwfl_offline_section_address;
  return use;
}

std::string demangled(char const* symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = text != nullptr ? text : symbol;
  std::free(text);
  return name;
}

// Units are found by a table that g++ writes and clang leaves out; without it, each unit is asked
// for its addresses.
Dwarf_Line* line_at(Dwfl_Module* module, Dwarf_Addr address) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) {
    do {
      unit = dwfl_module_nextcu(module, unit, &bias);
    } while (unit != nullptr && dwarf_haspc(unit, address - bias) <= 0);
  }
  return unit != nullptr ? dwarf_getsrc_die(unit, address - bias) : nullptr;
}

}  // namespace

std::optional<CodeFile> CodeFile::open(std::filesystem::path const& file) {
  static Dwfl_Callbacks const use = callbacks();
  std::unique_ptr<Opened, Close> opened(new Opened{dwfl_begin(&use), nullptr});
  if (opened->session == nullptr) return {};
  dwfl_report_begin(opened->session);
  // Nothing is added to its own addresses.
  opened->module = dwfl_report_elf(opened->session, file.c_str(), file.c_str(), -1, 0, true);
  dwfl_report_end(opened->session, nullptr, nullptr);
  if (opened->module == nullptr) return {};
  return CodeFile(std::move(opened));
}

CodeLine CodeFile::find(std::uint64_t address) const {
  CodeLine found;
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  if (char const* const name = dwfl_module_addrinfo(opened_->module, address, &offset, &symbol,
                                                    nullptr, nullptr, nullptr)) {
    found.function = demangled(name);
    found.offset = offset;
  }
  if (Dwarf_Line* const at = line_at(opened_->module, address)) {
    if (char const* const source = dwarf_linesrc(at, nullptr, nullptr)) found.source = source;
    if (dwarf_lineno(at, &found.line) != 0) found.line = 0;
  }
  return found;
}

}  // namespace nigh::cli
