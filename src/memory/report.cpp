// SPDX-License-Identifier: Apache-2.0
// Where memory lies: by its rule, and by the kernel's word.

#include <nigh/array.hpp>
#include <string>

#include "memory/live_arrays.hpp"
#include "memory/locate.hpp"
#include "memory/record.hpp"

namespace nigh {
namespace {

void count(page_report& report, int domain, int wanted) {
  if (domain >= 0)
    ++report.pages_of_domain[static_cast<std::size_t>(domain)];
  else
    ++report.elsewhere;
  if (wanted >= 0 && domain != wanted) ++report.misplaced;
}

int ask_kernel(void const* p, topology const& machine) {
  if (!machine.is_this_host()) return -1;
  if (machine.domains().size() == 1) return 0;
  auto const* const address = static_cast<std::byte const*>(p);
  auto const nodes = platform::nodes_of_pages({&address, 1});
  return nodes && nodes->front() >= 0 ? machine.domain_of_os_node(nodes->front()) : -1;
}

// The array's own numbering of domains; -1 when it has no rule.
int by_rule(detail::placed_record const& array, void const* p) noexcept {
  return array.map.domain_of(
      static_cast<std::size_t>(static_cast<std::byte const*>(p) - array.data));
}

}  // namespace

namespace detail {

page_report placed_block::report() const {
  page_report report;
  report.page_bytes = platform::page_bytes();
  if (!record_) return report;
  auto const& machine = *record_->machine;
  report.pages_of_domain.resize(machine.domains().size());
  report.note = record_->note;
  if (data_ == nullptr) return report;
  std::size_t unknown = 0;
  auto const asked =
      memory::visit_pages(data_, record_->map.bytes(), [&](std::size_t offset, int node) {
        ++report.pages;
        if (node == platform::no_page)
          ++report.untouched;
        else if (node == platform::unknown_page)
          ++unknown;
        else if (!record_->of_this_host)
          ++report.elsewhere;
        else
          count(report, machine.domain_of_os_node(node), record_->map.domain_of(offset));
      });
  auto const add = [&](std::string const& sentence) {
    report.note += (report.note.empty() ? "" : "; ") + sentence;
  };
  if (!asked) add(asked.message());
  if (unknown > 0) add("of " + std::to_string(unknown) + " pages the kernel would not tell");
  return report;
}

std::string const& placed_block::note() const noexcept {
  static std::string const none;
  return record_ ? record_->note : none;
}

}  // namespace detail

int domain_of(void const* p) {
  auto const* const array = memory::array_at(p);
  if (array != nullptr)
    if (int const domain = by_rule(*array, p); domain >= 0) return domain;
  return ask_kernel(p, this_host());
}

int domain_of(void const* p, topology const& machine) {
  auto const* const array = memory::array_at(p);
  if (array == nullptr) return ask_kernel(p, machine);
  int const domain = by_rule(*array, p);
  if (domain < 0) return ask_kernel(p, machine);
  if (array->machine == &machine) return domain;
  if (array->of_this_host != machine.is_this_host()) return ask_kernel(p, machine);
  // Another view of the same machine may have fewer cpus: only Linux's numbers are the same in
  // both.
  return machine.domain_of_os_node(array->os_node_of_domain[static_cast<std::size_t>(domain)]);
}

}  // namespace nigh
