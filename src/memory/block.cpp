// SPDX-License-Identifier: Apache-2.0
// A placed block from its mapping to its end.

#include <algorithm>
#include <limits>
#include <memory>
#include <nigh/array.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "memory/apply.hpp"
#include "memory/live_arrays.hpp"
#include "memory/out_of_memory.hpp"
#include "memory/record.hpp"
#include "platform/memory_limits.hpp"
#include "platform/pages.hpp"

namespace nigh::detail {
namespace {

constexpr std::size_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max();

std::size_t checked_bytes(std::size_t count, std::size_t element_bytes) {
  if (count != 0 && element_bytes > most_bytes / count)
    throw std::length_error("array: " + std::to_string(count) + " elements of " +
                            std::to_string(element_bytes) + " bytes overflow the address space");
  return count * element_bytes;
}

void check(placement rule, topology const& machine) {
  using kind = placement::kind;
  auto const domains = machine.domains().size();
  if (rule.how() == kind::bind && (rule.domain() < 0 || rule.granule() >= domains))
    throw std::invalid_argument("placement: bind(" + std::to_string(rule.domain()) +
                                ") names a domain the machine does not have; it has " +
                                std::to_string(domains));
  if ((rule.how() == kind::blocked || rule.how() == kind::cyclic) && rule.granule() == 0)
    throw std::invalid_argument("placement: a piece of zero elements");
}

// Linux promises more memory than it has, and kills a process when too much of it is used. So nigh
// asks for no promise that cannot be kept: the available memory must suffice for this array and for
// what other arrays were promised and have not touched. Small arrays pass unchecked.
void check_memory(std::size_t bytes) {
  constexpr std::size_t small = std::size_t{16} << 20;
  if (bytes < small) return;
  auto const available = platform::available_bytes();
  auto const arrays = memory::live_bytes();
  auto const untouched = arrays - std::min(arrays, platform::anonymous_bytes());
  auto const left = available - std::min(available, untouched);
  if (bytes > left) throw memory::OutOfMemory(bytes, left, {});
}

// Does nothing where the rule holds by itself or cannot be carried out: a host with one domain has
// no choice, and its pages appear where they are first used.
std::string settle(placed_record const& record, placement rule) {
  if (rule.how() == placement::kind::first_touch) return {};
  if (!record.of_this_host)
    return "the topology is of another machine: domains are as the rule says, memory is not bound";
  if (record.machine->domains().size() == 1) return {};
  return memory::apply_placement(record.map, rule, record.data, *record.machine);
}

}  // namespace

placed_block::placed_block() noexcept = default;

placed_block::placed_block(std::size_t count, std::size_t element_bytes, placement rule,
                           array_options options)
    : bytes_(checked_bytes(count, element_bytes)), rule_(rule) {
  topology const& machine = options.machine != nullptr ? *options.machine : this_host();
  check(rule, machine);
  auto record = std::make_unique<placed_record>();
  record->machine = &machine;
  record->of_this_host = machine.is_this_host();
  for (domain const& d : machine.domains()) record->os_node_of_domain.push_back(d.os_node);
  auto const huge = options.huge_pages ? platform::huge_page_bytes() : 0;
  record->map = {rule, element_bytes, count, std::max(huge, platform::page_bytes()),
                 policy::placement_domains(rule, machine)};
  if (bytes_ > 0) {
    check_memory(record->map.mapped_bytes());
    auto const mapped =
        platform::map_pages(record->map.mapped_bytes(), memory::alignment_for(record->map, rule));
    if (!mapped) throw memory::OutOfMemory(bytes_, platform::available_bytes(), mapped.message());
    data_ = record->data = *mapped;
    if (huge > 0) platform::advise(data_, record->map.mapped_bytes(), platform::huge_pages::wanted);
    try {
      record->note = settle(*record, rule);
      memory::announce(*record);
    } catch (...) {
      platform::unmap_pages(data_, record->map.mapped_bytes());
      throw;
    }
  }
  record_.reset(record.release());
}

placed_block::~placed_block() { release(); }

placed_block::placed_block(placed_block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      rule_(std::exchange(other.rule_, placement::first_touch())),
      record_(std::move(other.record_)) {}

placed_block& placed_block::operator=(placed_block&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  rule_ = std::exchange(other.rule_, placement::first_touch());
  record_ = std::move(other.record_);
  return *this;
}

void placed_block::release() noexcept {
  if (data_ != nullptr) {
    memory::withdraw(*record_);
    platform::unmap_pages(data_, record_->map.mapped_bytes());
  }
  record_.reset();
}

int placed_block::domain_of(std::size_t byte) const noexcept {
  if (data_ == nullptr) return -1;
  NIGH_DEBUG_ASSERT(byte < bytes_, "the element is in the array");
  return record_->map.domain_of(byte);
}

}  // namespace nigh::detail
