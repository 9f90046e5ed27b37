// SPDX-License-Identifier: Apache-2.0
#include "cli/region_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "platform/elf.hpp"
#include "platform/process_usage.hpp"

namespace nigh::cli {

namespace fs = std::filesystem;
using coordinator::RegionId;

namespace {

// What the compiler added to the name of a function to name the region in it: g++ "._omp_fn.0",
// clang ".omp_outlined"; behind a demangled name it is " [clone ._omp_fn.0]".
struct CompilerPart {
  std::size_t at = 0;
  std::string text = {};
};
CompilerPart compiler_part(std::string const& function) {
  constexpr std::string_view clone = " [clone ";
  auto const at =
      std::min({function.find(clone), function.find("._omp_fn"), function.find(".omp_outlined")});
  if (at == function.npos) return {function.size()};
  auto text = function.substr(at);
  if (!text.starts_with(clone)) return {at, text};
  text = text.substr(clone.size());
  return {at, text.substr(0, text.find(']'))};
}

constexpr std::string_view opening = "(<{[", closing = ")>}]";

// "double cg::sum<int, f(int)::{lambda(int)#1}>(int) const" is cg::sum: what stands in brackets
// says which of several, and what stands before a space, what it returns. A lambda keeps its
// number.
std::string without_types(std::string_view function) {
  constexpr std::string_view keyword = "operator", anonymous = "(anonymous namespace)::";
  std::string name;
  int inside = 0;  // brackets that are left out
  for (std::size_t i = 0; i < function.size(); ++i) {
    char const c = function[i];
    if (inside == 0 && function.substr(i).starts_with(anonymous)) {
      i += anonymous.size() - 1;
    } else if (inside == 0 && name.ends_with(keyword)) {
      // "()", "<", "->": up to the parameters.
      auto const parameters = function.find('(', c == '(' ? i + 1 : i);
      auto const end = std::min(parameters, function.size());
      name += function.substr(i, end - i);
      i = end - 1;
    } else if (c != '{' && opening.find(c) != opening.npos) {
      ++inside;
    } else if (c != '}' && closing.find(c) != closing.npos) {
      --inside;
    } else if (inside > 0) {
    } else if (c == ' ') {
      if (function.substr(i) == " const") break;
      name.clear();
    } else {
      name += c;
    }
  }
  return name;
}

}  // namespace

std::string function_of(RegionCode const& region) {
  auto const& function = region.at.function;
  auto const written = function.substr(0, compiler_part(function).at);
  if (written.empty()) return function;
  auto const name = without_types(written);
  return name.empty() ? written : name;
}

std::string short_name(RegionCode const& region) {
  auto const& at = region.at;
  if (at.line > 0) return fmt::format("{}:{}", fs::path(at.source).filename().string(), at.line);
  if (!at.function.empty()) {
    auto const added = compiler_part(at.function);
    auto const name = function_of(region) + (added.at > 0 ? added.text : "");
    return at.offset == 0 ? name : fmt::format("{}+{:#x}", name, at.offset);
  }
  if (region.is_in_library)
    return fmt::format("{}+{:#x}", region.file.filename().string(), region.address);
  return fmt::format("{:#x}", region.address);
}

RegionNames RegionNames::of_program(fs::path program, std::vector<fs::path> const& libraries) {
  RegionNames names;
  names.program_.file = std::move(program);
  for (auto const& library : libraries) names.add(library);
  return names;
}

RegionNames RegionNames::of_process(int pid) {
  // Even when the file is no more.
  auto names = of_program(fmt::format("/proc/{}/exe", pid));
  names.pid_ = pid;
  return names;
}

// By the name it was loaded under: its own, or that of the file where it has none.
void RegionNames::add(fs::path const& library) {
  auto const elf = platform::read_elf(library);
  if (!elf) return;
  auto const name = elf->library_name.empty() ? library.filename().string() : elf->library_name;
  libraries_.try_emplace(coordinator::library_number(name.c_str()), Binary{library, {}, false});
}

RegionNames::Binary* RegionNames::binary_of(RegionId region) {
  if ((region & coordinator::in_no_file) != 0) return nullptr;
  auto const number = coordinator::library_of(region);
  if (number == 0) return &program_;
  // Libraries are loaded at any time.
  if (pid_ && !libraries_.contains(number)) {
    std::error_code unknown;
    auto const program = fs::read_symlink(program_.file, unknown);
    for (auto const& file : platform::mapped_code(*pid_))
      if (file != program) add(file);
  }
  auto const found = libraries_.find(number);
  return found == libraries_.end() ? nullptr : &found->second;
}

RegionCode const& RegionNames::find(RegionId region) {
  auto const [at, is_new] = found_.try_emplace(region);
  auto& code = at->second;
  if (!is_new) return code;
  code.address = coordinator::address_of(region);
  Binary* const binary = binary_of(region);
  if (binary == nullptr) return code;
  code.file = binary->file;
  code.is_in_library = binary != &program_;
  if (!std::exchange(binary->is_opened, true)) binary->code = CodeFile::open(binary->file);
  if (binary->code) code.at = binary->code->find(code.address);
  return code;
}

}  // namespace nigh::cli
