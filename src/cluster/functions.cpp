// SPDX-License-Identifier: Apache-2.0
#include "cluster/functions.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nigh/cluster.hpp>

namespace nigh::cluster {
namespace {

// Libraries may be loaded by any thread.
struct Listed {
  std::mutex lock;
  detail::function* first = nullptr;
  bool closed = false;
  bool has_free_tasks = false;
};
Listed& listed() {
  static auto& one = *new Listed;  // for functions that are listed before our statics are made
  return one;
}

}  // namespace

namespace detail {

bool enlist(function& f) noexcept {
  auto& all = listed();
  std::lock_guard const guard(all.lock);
  f.is_late = all.closed;
  f.next = std::exchange(all.first, &f);
  return true;
}

bool enlist_free_tasks() noexcept {
  auto& all = listed();
  std::lock_guard const guard(all.lock);
  return all.has_free_tasks = true;
}

void refuse_input(function const& f, std::size_t input_bytes) {
  throw std::length_error(readable_name(f) + ": " + std::to_string(input_bytes) +
                          " bytes of arguments, and a task can have " +
                          std::to_string(largest_input));
}

void refuse_function(function const& f) {
  throw std::logic_error(readable_name(f) +
                         ": came to the program after the session began, and is unknown to the "
                         "other ranks");
}

}  // namespace detail

std::vector<detail::function*> close_functions() {
  auto& all = listed();
  std::lock_guard const guard(all.lock);
  std::vector<detail::function*> functions;
  for (auto* f = all.first; f != nullptr; f = f->next) functions.push_back(f);
  // The last listed comes first in the list; functions of one name keep the order of the program.
  std::reverse(functions.begin(), functions.end());
  std::stable_sort(functions.begin(), functions.end(), [](auto const* a, auto const* b) {
    return std::string_view(a->type->name()) < std::string_view(b->type->name());
  });
  for (std::size_t i = 0; i < functions.size(); ++i) {
    functions[i]->id = static_cast<std::uint32_t>(i);
    functions[i]->is_late = false;
  }
  all.closed = true;
  return functions;
}

void open_functions() noexcept {
  auto& all = listed();
  std::lock_guard const guard(all.lock);
  all.closed = false;
}

bool has_free_tasks() noexcept {
  auto& all = listed();
  std::lock_guard const guard(all.lock);
  return all.has_free_tasks;
}

// "nigh::cluster::detail::of_function<&fib(int)>", or with the pointer in parentheses.
std::string readable_name(std::string const& type_name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const whole(
      abi::__cxa_demangle(type_name.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? whole.get() : type_name;
  auto const from = name.find("of_function<"), to = name.rfind('>');
  if (from == std::string::npos || to == std::string::npos) return name;
  name = name.substr(from + 12, to - from - 12);
  if (name.starts_with("&")) name.erase(0, 1);
  bool const in_parentheses =
      name.starts_with("(") && name.ends_with(")") && !name.starts_with("(anonymous");
  return in_parentheses ? name.substr(1, name.size() - 2) : name;
}

std::string readable_name(detail::function const& f) { return readable_name(f.type->name()); }

std::string program_of(std::vector<detail::function*> const& functions, bool has_free_tasks) {
  std::string lines;
  for (auto const* f : functions)
    lines += std::string(f->type->name()) + ' ' + std::to_string(f->arguments_bytes) + ' ' +
             std::to_string(f->result_bytes) + '\n';
  if (has_free_tasks) lines += std::string(free_line) + '\n';
  return lines;
}

Difference first_difference(std::string_view first, std::string_view second) {
  auto const lines = [](std::string_view text) {
    std::vector<std::string_view> all;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      all.push_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    return all;
  };
  auto a = lines(first), b = lines(second);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  auto const [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return {};
  auto const name_in = [](std::string_view line) {
    return line == free_line ? line : line.substr(0, line.find(' '));  // a mangled name has none
  };
  bool const of_a = in_b == b.end() || (in_a != a.end() && *in_a < *in_b);
  bool const have_one_name = in_a != a.end() && in_b != b.end() && name_in(*in_a) == name_in(*in_b);
  return {std::string(name_in(of_a ? *in_a : *in_b)), of_a, have_one_name};
}

}  // namespace nigh::cluster
