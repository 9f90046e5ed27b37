// SPDX-License-Identifier: Apache-2.0
#include "cli/region_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "cli/others_time.hpp"
#include "cli/region_finder.hpp"

namespace nigh::cli {

namespace fs = std::filesystem;
using coordinator::RegionId;

namespace {

// The text that compilers add to a function's name for the region in it: g++ "._omp_fn.0", clang
// ".omp_outlined"; after a demangled name it is " [clone ._omp_fn.0]".
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

OthersTime others(OthersTime::Clock::now());

// Texts, each with a zero after it. Long ones are cut.
constexpr std::size_t longest_text = 4096;
std::string as_answer(RegionCode const& code) {
  std::string answer;
  auto const add = [&](std::string const& text) {
    answer.append(text, 0, longest_text).push_back('\0');
  };
  add(code.file.string());
  add(code.is_in_library ? "1" : "0");
  add(code.at.function);
  add(std::to_string(code.at.offset));
  add(code.at.source);
  add(std::to_string(code.at.line));
  return answer;
}

template <class Number>
Number number_in(std::string_view text) {
  Number n{};
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// The child's words are trusted no more than the file: a hostile file may have taken it over.
RegionCode from_answer(std::string_view answer, RegionCode code) {
  auto const next = [&] {
    auto const text = answer.substr(0, answer.find('\0'));
    answer.remove_prefix(std::min(answer.size(), text.size() + 1));
    return text;
  };
  code.file = next();
  code.is_in_library = next() == "1";
  code.at.function = base::printable(next());
  code.at.offset = number_in<std::uint64_t>(next());
  code.at.source = base::printable(next());
  code.at.line = number_in<int>(next());
  return code;
}

constexpr std::string_view opening = "(<{[", closing = ")>}]";

// "double cg::sum<int, f(int)::{lambda(int)#1}>(int) const" is cg::sum: brackets tell overloads
// apart, and the part before a space is the result. A lambda keeps its number.
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
    return fmt::format("{}+{:#x}", base::printable(region.file.filename().string()),
                       region.address);
  return fmt::format("{:#x}", region.address);
}

RegionNames RegionNames::of_program(fs::path program, std::vector<fs::path> const& libraries) {
  RegionNames names;
  names.program_ = std::move(program);
  names.libraries_ = libraries;
  return names;
}

RegionNames RegionNames::of_process(ProgramProcess const& process) {
  // Even when the file is gone.
  auto names = of_program(fmt::format("/proc/{}/exe", process.identity.pid));
  names.process_ = process;
  return names;
}

// Files may contain anything, and those of another user's process may be anything: a child with
// that user's rights, little memory and little time reads them.
RegionNames::Reader RegionNames::start() const {
  platform::ChildLimits limits;
  if (process_) {
    limits.user = process_->owner();
    if (!limits.user) return {};
  }
  bool const is_anothers = limits.user && !limits.user->is_us;
  if (is_anothers) {
    limits.processor_time = std::chrono::seconds(2);
    limits.answer_time = others.left(OthersTime::Clock::now());
    if (limits.answer_time <= limits.answer_time.zero()) return {};
  }
  auto child = platform::AnsweringChild::start(limits, [this, is_anothers] {
    auto const pid = process_ ? std::optional(process_->identity.pid) : std::nullopt;
    auto const finder = std::make_shared<RegionFinder>(
        program_, libraries_, pid, is_anothers ? most_bytes_for_others : most_bytes_for_own);
    return [finder](std::string_view question) -> std::optional<std::string> {
      RegionId region = 0;
      std::memcpy(&region, question.data(), std::min(question.size(), sizeof region));
      return as_answer(finder->find(region));
    };
  });
  if (!child) return {};
  return {std::make_unique<platform::AnsweringChild>(std::move(child).value()), is_anothers};
}

RegionCode RegionNames::look_for(RegionId region) {
  RegionCode unknown;
  unknown.address = coordinator::address_of(region);
  if (has_failed_) return unknown;
  auto const began = OthersTime::Clock::now();
  if (!reader_.child) reader_ = start();
  std::string question(sizeof region, '\0');
  std::memcpy(question.data(), &region, sizeof region);
  auto answer = reader_.child ? reader_.child->ask(question) : std::nullopt;
  bool const is_anothers = reader_.is_anothers;
  if (!answer && is_anothers) others.count_failure();
  // The answer may be about a process that came after this one.
  if (answer && process_ && !process_->owner()) answer.reset();
  has_failed_ = !answer;
  // A short-lived program has a new one, and there may be many programs.
  if (!answer || process_) reader_ = {};
  if (is_anothers) others.spend(OthersTime::Clock::now() - began);
  return answer ? from_answer(*answer, unknown) : unknown;
}

RegionCode const& RegionNames::find(RegionId region) {
  auto const [at, is_new] = found_.try_emplace(region);
  if (is_new) at->second = look_for(region);
  return at->second;
}

std::vector<std::string> names_of(ReadTrace const& read) {
  std::set<fs::path> libraries;
  for (auto const& code : read.codes)
    if (!code.library.empty()) libraries.insert(code.library);
  auto names = RegionNames::of_program(read.file, {libraries.begin(), libraries.end()});
  std::vector<std::string> found;
  for (auto const& code : read.codes)
    found.push_back(code.code == coordinator::in_no_file ? "of other code" : names.name(code.code));
  return found;
}

}  // namespace nigh::cli
