// SPDX-License-Identifier: Apache-2.0
#include "bench/mg/setting.hpp"

#include "bench/options.hpp"
#include "bench/pin.hpp"

namespace bench {

std::string_view to_string(Bind bind) noexcept {
  return bind == Bind::compact ? "compact" : "scatter";
}

std::string_view to_string(Mem mem) noexcept {
  return mem == Mem::first_touch ? "first-touch" : "interleave";
}

Bind bind_from(std::string const& argument, std::string const& word) {
  for (Bind const b : {Bind::compact, Bind::scatter})
    if (word == to_string(b)) return b;
  refuse(argument, word, "is not compact or scatter");
}

Mem mem_from(std::string const& argument, std::string const& word) {
  for (Mem const m : {Mem::first_touch, Mem::interleave})
    if (word == to_string(m)) return m;
  refuse(argument, word, "is not first-touch or interleave");
}

npb_mg::Class const& class_from(std::string const& argument, std::string const& word) {
  npb_mg::Class const* const found = npb_mg::find_class(word);
  if (found == nullptr) refuse(argument, word, "is none of the classes S, W, A, B, C, D");
  return *found;
}

npb_mg::Kernel const& kernel_from(std::string const& argument, std::string const& word) {
  return present_kernel(argument, word, npb_mg::find_kernel(word));
}

npb_mg::VariantInfo const& variant_from(std::string const& argument, std::string const& word) {
  return present_variant(argument, word, npb_mg::find_variant(word));
}

npb_mg::Team team_for(nigh::topology const& machine, int threads, Bind bind,
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

nigh::placement rule_of(Mem mem) noexcept {
  return mem == Mem::first_touch ? nigh::placement::first_touch() : nigh::placement::interleave();
}

}  // namespace bench
