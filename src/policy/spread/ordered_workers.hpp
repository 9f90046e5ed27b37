// SPDX-License-Identifier: Apache-2.0
#pragma once
// OrderedWorkers: the workers of a program in hardware order: those that share a cache stand side
// by side.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/topology.hpp>
#include <utility>
#include <vector>

namespace nigh::policy {

class OrderedWorkers {
 public:
  // Sets whose borders a team should not cross, largest first.
  enum Set : std::uint8_t { package, domain, l3, l2, core };
  static constexpr std::size_t sets = 5;

  struct Entry {
    int worker = 0;
    int domain = 0;            // of the machine
    std::array<int, sets> in;  // number of the package, domain, L3, L2, core
    int sibling = 0;           // how many workers of its core come before it
  };

  // For a machine of which only the shared sets are known. In hardware order; `sibling` is filled
  // in, and each entry's number is its worker.
  explicit OrderedWorkers(std::vector<Entry> ordered) : entries_(std::move(ordered)) {
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].worker = static_cast<int>(i);
    count_siblings();
  }

  OrderedWorkers(topology const& machine, std::vector<int> const& cpu_of) {
    std::array<std::vector<std::vector<int>>, sets> groups{machine.groups(level::package),
                                                           {},
                                                           machine.groups(level::l3),
                                                           machine.groups(level::l2),
                                                           machine.groups(level::core)};
    for (int d = 0; d < machine.cpu_domains(); ++d)
      groups[domain].push_back(machine.domains()[static_cast<std::size_t>(d)].cpus);
    std::vector<std::array<int, sets>> in(
        static_cast<std::size_t>(*std::max_element(machine.cpus().begin(), machine.cpus().end())) +
        1);
    for (std::size_t s = 0; s < sets; ++s)
      for (std::size_t g = 0; g < groups[s].size(); ++g)
        for (int cpu : groups[s][g]) in[static_cast<std::size_t>(cpu)][s] = static_cast<int>(g);
    for (std::size_t w = 0; w < cpu_of.size(); ++w)
      entries_.push_back({static_cast<int>(w), machine.domain_of_cpu(cpu_of[w]),
                          in[static_cast<std::size_t>(cpu_of[w])], 0});
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](Entry const& a, Entry const& b) { return a.in < b.in; });
    count_siblings();
    auto const domains = machine.domains().size();
    distances_.resize(domains, std::vector<double>(domains));
    for (std::size_t a = 0; a < domains; ++a)
      for (std::size_t b = 0; b < domains; ++b)
        distances_[a][b] = machine.distance(static_cast<int>(a), static_cast<int>(b));
  }

  std::vector<Entry> const& all() const noexcept { return entries_; }
  int size() const noexcept { return static_cast<int>(entries_.size()); }
  int cores() const noexcept {
    return static_cast<int>(std::count_if(entries_.begin(), entries_.end(),
                                          [](Entry const& s) { return s.sibling == 0; }));
  }
  // Domains that have workers, and how many the largest of them has.
  int domains() const noexcept { return count_domains().first; }
  int largest_domain() const noexcept { return count_domains().second; }
  std::vector<std::vector<double>> const& distances() const noexcept { return distances_; }

 private:
  void count_siblings() noexcept {
    for (std::size_t i = 1; i < entries_.size(); ++i)
      if (entries_[i].in[core] == entries_[i - 1].in[core])
        entries_[i].sibling = entries_[i - 1].sibling + 1;
  }
  std::pair<int, int> count_domains() const noexcept {
    int count = 0, largest = 0, here = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      bool const begins = i == 0 || entries_[i].domain != entries_[i - 1].domain;
      count += begins ? 1 : 0;
      here = begins ? 1 : here + 1;
      largest = std::max(largest, here);
    }
    return {count, largest};
  }

  std::vector<Entry> entries_;  // in hardware order
  std::vector<std::vector<double>> distances_;
};

}  // namespace nigh::policy
