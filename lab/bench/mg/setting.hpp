// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where threads and memory go: the two levers of the paper this bench follows.

#include <string>
#include <string_view>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "npb_mg/variant.hpp"

namespace bench {

enum class Bind {
  compact,  // one domain's cpus after the other's
  scatter,  // domain by domain in turn
};

enum class Mem {
  first_touch,  // a page lies where the thread runs that first writes it
  interleave,   // pages lie on the domains in turn
};

inline std::string_view to_string(Mem mem) noexcept {
  return mem == Mem::first_touch ? "first-touch" : "interleave";
}

inline std::string_view to_string(Bind bind) noexcept {
  return bind == Bind::compact ? "compact" : "scatter";
}

// UsageError naming the argument for any other word.
inline Bind bind_from(std::string const& argument, std::string const& word) {
  for (Bind const b : {Bind::compact, Bind::scatter})
    if (word == to_string(b)) return b;
  refuse(argument, word, "is not compact or scatter");
}

inline Mem mem_from(std::string const& argument, std::string const& word) {
  for (Mem const m : {Mem::first_touch, Mem::interleave})
    if (word == to_string(m)) return m;
  refuse(argument, word, "is not first-touch or interleave");
}

inline npb_mg::Class const& class_from(std::string const& argument, std::string const& word) {
  npb_mg::Class const* const found = npb_mg::find_class(word);
  if (found == nullptr) refuse(argument, word, "is none of the classes S, W, A, B, C, D");
  return *found;
}

inline npb_mg::Kernel const& kernel_from(std::string const& argument, std::string const& word) {
  return present_kernel(argument, word, npb_mg::find_kernel(word));
}

// One that is here.
inline npb_mg::VariantInfo const& variant_from(std::string const& argument,
                                               std::string const& word) {
  return present_variant(argument, word, npb_mg::find_variant(word));
}

inline npb_mg::Team team_for(nigh::topology const& machine, int threads, Bind bind,
                             npb_mg::Kernel const& kernel) {
  npb_mg::Team team;
  team.machine = &machine;
  team.cpus =
      machine.order(bind == Bind::compact ? nigh::cpu_order::compact : nigh::cpu_order::scatter,
                    nigh::level::domain);
  team.cpus.resize(static_cast<std::size_t>(threads));
  team.pin = pin_this_thread;
  team.kernel = &kernel;
  return team;
}

inline nigh::placement rule_of(Mem mem) noexcept {
  return mem == Mem::first_touch ? nigh::placement::first_touch() : nigh::placement::interleave();
}

}  // namespace bench
