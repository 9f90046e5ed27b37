// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where threads and memory go: the two levers of the paper this bench follows.

#include <string>
#include <string_view>

#include "npb_mg/run.hpp"

namespace bench {

enum class Bind {
  compact,  // one domain's cpus after the other's
  scatter,  // domain by domain in turn
};
enum class Mem {
  first_touch,  // a page lies where the thread runs that first writes it
  interleave,   // pages lie on the domains in turn
};

std::string_view to_string(Bind bind) noexcept;
std::string_view to_string(Mem mem) noexcept;
// UsageError naming the argument for any other word.
Bind bind_from(std::string const& argument, std::string const& word);
Mem mem_from(std::string const& argument, std::string const& word);
npb_mg::Class const& class_from(std::string const& argument, std::string const& word);
npb_mg::Kernel const& kernel_from(std::string const& argument, std::string const& word);
// One that is here.
npb_mg::VariantInfo const& variant_from(std::string const& argument, std::string const& word);

npb_mg::Team team_for(nigh::topology const& machine, int threads, Bind bind,
                      npb_mg::Kernel const& kernel);
nigh::placement rule_of(Mem mem) noexcept;

}  // namespace bench
