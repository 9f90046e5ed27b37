// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fields of a machine's file by their pointers ("/links/between"), and what is wrong with them.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "sim/json_lines.hpp"
#include "sim/machine.hpp"

namespace nigh::sim {

using nlohmann::json;

enum class Least { above_zero, zero };

// The first mistake is kept; what is read after it does not matter.
class Fields {
 public:
  Fields(JsonFile const& file, std::optional<error>& mistake) : file_(file), mistake_(mistake) {}

  // The members of an object that are of use; any other one is a mistake.
  void only(std::string const& pointer, std::set<std::string> const& known) {
    json const* const object = find(pointer);
    if (object == nullptr) return;
    if (!object->is_object()) return complain(pointer, "is no object { }");
    for (auto const& [key, value] : object->items())
      if (known.count(key) == 0) complain(pointer + '/' + key, "unknown key");
  }

  json const* need(std::string const& pointer) {
    json const* const value = find(pointer);
    if (value == nullptr) complain(pointer, "is missing");
    return value;
  }
  json const* find(std::string const& pointer) const {
    json const* at = &file_.root;
    for (std::size_t begin = 1; begin < pointer.size();) {
      auto const end = std::min(pointer.find('/', begin), pointer.size());
      auto const key = pointer.substr(begin, end - begin);
      if (!at->is_object() || !at->contains(key)) return nullptr;
      at = &(*at)[key];
      begin = end + 1;
    }
    return at;
  }

  std::string text(std::string const& pointer) {
    json const* const value = need(pointer);
    if (value == nullptr) return {};
    if (!value->is_string() || value->get<std::string>().empty()) {
      complain(pointer, "is no text");
      return {};
    }
    return value->get<std::string>();
  }

  // Of any machine that is worth a thought; beyond these, simulated times are out of hand.
  static constexpr double most_ns = 1e9, least_gb_per_s = 1e-3, most_gb_per_s = 1e6;
  static constexpr double most_times = 1e3, most_count = 1e6;

  Sourced nanoseconds(std::string const& pointer) { return number(pointer, Least::zero, most_ns); }
  Sourced gb_per_s(std::string const& pointer) {
    auto const n = number(pointer, Least::above_zero, most_gb_per_s);
    if (n.value > 0 && n.value < least_gb_per_s)
      complain(pointer + "/value", "is less than " + json(least_gb_per_s).dump());
    return n;
  }
  // How many times as much as without it, or a part.
  Sourced factor(std::string const& pointer) { return number(pointer, Least::zero, most_times); }

  Sourced number(std::string const& pointer, Least least, double most) {
    if (need(pointer) == nullptr) return {};
    only(pointer, {"value", "source"});
    Sourced number{0, text(pointer + "/source")};
    json const* const value = need(pointer + "/value");
    if (value == nullptr) return number;
    if (!value->is_number()) {
      complain(pointer + "/value", "is no number");
      return number;
    }
    number.value = value->get<double>();
    bool const is_enough = least == Least::zero ? number.value >= 0 : number.value > 0;
    if (!is_enough || number.value > most)
      complain(pointer + "/value", "is " + value->dump() + ", which is not " +
                                       (least == Least::zero ? "0 or more" : "above 0") +
                                       (is_enough ? " and at most " + json(most).dump() : ""));
    return number;
  }

  void complain(std::string const& pointer, std::string const& what) {
    if (mistake_) return;
    mistake_ =
        file_.complaint(pointer, (pointer.empty() ? "the file" : pointer.substr(1)) + ": " + what);
  }

 private:
  JsonFile const& file_;
  std::optional<error>& mistake_;
};

}  // namespace nigh::sim
