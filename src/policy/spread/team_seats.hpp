// SPDX-License-Identifier: Apache-2.0
#pragma once
// Seats: the workers of a program side by side, those that share a cache next to each other.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/topology.hpp>
#include <utility>
#include <vector>

namespace nigh::policy {

// The workers of a runtime, as far as teams have to do with them.
class TeamSeats {
 public:
  // Sets that a team had better not cross, largest first.
  enum Set : std::uint8_t { package, domain, l3, l2, core };
  static constexpr std::size_t sets = 5;

  struct Seat {
    int worker = 0;
    int domain = 0;            // of the machine
    std::array<int, sets> in;  // number of the package, domain, L3, L2, core
    int sibling = 0;           // how many workers of its core stand before it
  };

  // Of a machine of which no more is known than who shares what. In hardware order; `sibling` is
  // filled in, and the worker of a seat is the seat's number.
  explicit TeamSeats(std::vector<Seat> seats) : seats_(std::move(seats)) {
    for (std::size_t i = 0; i < seats_.size(); ++i) seats_[i].worker = static_cast<int>(i);
    count_siblings();
  }

  TeamSeats(topology const& machine, std::vector<int> const& cpu_of) {
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
      seats_.push_back({static_cast<int>(w), machine.domain_of_cpu(cpu_of[w]),
                        in[static_cast<std::size_t>(cpu_of[w])], 0});
    std::stable_sort(seats_.begin(), seats_.end(),
                     [](Seat const& a, Seat const& b) { return a.in < b.in; });
    count_siblings();
    auto const domains = machine.domains().size();
    distances_.resize(domains, std::vector<double>(domains));
    for (std::size_t a = 0; a < domains; ++a)
      for (std::size_t b = 0; b < domains; ++b)
        distances_[a][b] = machine.distance(static_cast<int>(a), static_cast<int>(b));
  }

  std::vector<Seat> const& all() const noexcept { return seats_; }
  int size() const noexcept { return static_cast<int>(seats_.size()); }
  int cores() const noexcept {
    return static_cast<int>(
        std::count_if(seats_.begin(), seats_.end(), [](Seat const& s) { return s.sibling == 0; }));
  }
  // Domains that have seats, and how many the largest of them has.
  int domains() const noexcept { return count_domains().first; }
  int largest_domain() const noexcept { return count_domains().second; }
  std::vector<std::vector<double>> const& distances() const noexcept { return distances_; }

 private:
  void count_siblings() noexcept {
    for (std::size_t i = 1; i < seats_.size(); ++i)
      if (seats_[i].in[core] == seats_[i - 1].in[core])
        seats_[i].sibling = seats_[i - 1].sibling + 1;
  }
  std::pair<int, int> count_domains() const noexcept {
    int count = 0, largest = 0, here = 0;
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      bool const begins = i == 0 || seats_[i].domain != seats_[i - 1].domain;
      count += begins ? 1 : 0;
      here = begins ? 1 : here + 1;
      largest = std::max(largest, here);
    }
    return {count, largest};
  }

  std::vector<Seat> seats_;  // in hardware order
  std::vector<std::vector<double>> distances_;
};

}  // namespace nigh::policy
