// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine as CoreAllocation sees it: its cpus in a row, cut into a hierarchy of core sets.
//
//   position   0  1  2  3  4  5  6  7   hardware order; cpu() is Linux's number
//   level 0   [0  1][2  3][4  5][6  7]  finest: cpus that share a cache, say
//   level 1   [0  1  2  3][4  5  6  7]  domains: between these a matrix tells distances
//   level 2   [0  1  2  3  4  5  6  7]  the last one is always the whole machine
//
// Every set is a range of positions, so that counting its free cpus is a population count, and a
// set lies within one set of the next level.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nigh/topology.hpp>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

// A set of positions: cpus, numbered in hardware order.

// Positions [begin, end).
struct Range {
  int begin = 0;
  int end = 0;

  constexpr int size() const noexcept { return end - begin; }
  constexpr bool has(int p) const noexcept { return begin <= p && p < end; }
  bool operator==(Range const&) const = default;
};

class PositionSet {
 public:
  PositionSet() = default;
  explicit PositionSet(int size) : words_((static_cast<std::size_t>(size) + 63) / 64), size_(size) {
    NIGH_ASSERT(size >= 0, "a set has room for none or more");
  }
  static PositionSet all(int size) {
    PositionSet set(size);
    for (int p = 0; p < size; ++p) set.add(p);
    return set;
  }

  int size() const noexcept { return size_; }  // capacity, not members
  bool has(int p) const noexcept {
    return 0 <= p && p < size_ && (words_[word(p)] >> (p % 64) & 1) != 0;
  }
  void add(int p) noexcept {
    NIGH_DEBUG_ASSERT(0 <= p && p < size_, "a position of this machine");
    words_[word(p)] |= std::uint64_t{1} << (p % 64);
  }
  void remove(int p) noexcept {
    NIGH_DEBUG_ASSERT(0 <= p && p < size_, "a position of this machine");
    words_[word(p)] &= ~(std::uint64_t{1} << (p % 64));
  }

  int count() const noexcept { return count({0, size_}); }
  int count(Range in) const noexcept {
    if (in.begin >= in.end) return 0;
    auto const first = word(in.begin), last = word(in.end - 1);
    auto const from = ~std::uint64_t{0} << (in.begin % 64);
    auto const to = ~std::uint64_t{0} >> (63 - (in.end - 1) % 64);
    if (first == last) return std::popcount(words_[first] & from & to);
    int n = std::popcount(words_[first] & from) + std::popcount(words_[last] & to);
    for (auto w = first + 1; w < last; ++w) n += std::popcount(words_[w]);
    return n;
  }
  bool empty() const noexcept {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t w) { return w == 0; });
  }

  // The first member at or after `from`, or `end` if there is none before it.
  int next(int from, int end) const noexcept {
    for (; from < end; from = (from / 64 + 1) * 64)
      if (auto const rest = words_[word(from)] >> (from % 64); rest != 0)
        return std::min(from + std::countr_zero(rest), end);
    return end;
  }

  bool intersects(PositionSet const& o) const noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((words_[w] & o.words_[w]) != 0) return true;
    return false;
  }

  PositionSet& operator&=(PositionSet const& o) noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= o.words_[w];
    return *this;
  }
  PositionSet& operator|=(PositionSet const& o) noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= o.words_[w];
    return *this;
  }
  PositionSet& operator-=(PositionSet const& o) noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~o.words_[w];
    return *this;
  }
  bool operator==(PositionSet const&) const = default;

 private:
  static std::size_t word(int p) noexcept { return static_cast<std::size_t>(p) / 64; }

  std::vector<std::uint64_t> words_;  // bits from size_ on are 0
  int size_ = 0;
};

class CoreMap {
 public:
  // The parts of a machine. Levels go from the finest sets to the largest, given as the sizes of
  // their sets, in hardware order; the whole machine may be left out.
  struct Parts {
    std::vector<int> cpus;                     // Linux's number, by position
    std::vector<std::vector<int>> levels;      //
    std::vector<double> within;                // of level l: distance of two cpus that meet there;
                                               // its last level is that of the domains
    std::vector<std::vector<double>> between;  // distances of cpus of two domains
    std::vector<int> core_of;                  // by position; empty: each cpu is a core
  };

  explicit CoreMap(Parts parts)
      : cpus_(std::move(parts.cpus)),
        within_(std::move(parts.within)),
        between_(std::move(parts.between)) {
    NIGH_ASSERT(!cpus_.empty() && cpus_.size() < std::numeric_limits<std::uint16_t>::max(),
                "a machine has cpus, and a position fits its word");
    NIGH_ASSERT(!within_.empty() && within_.size() <= parts.levels.size(),
                "domains are one of the levels");
    int const n = size();
    if (parts.levels.back().size() > 1) parts.levels.push_back({n});
    for (auto const& sizes : parts.levels) add_level(sizes);
    domains_ = sets(domain_level());
    NIGH_ASSERT(static_cast<int>(between_.size()) == domains_,
                "a row of distances for each domain");

    first_of_core_ = PositionSet(n);
    for (int p = 0; p < n; ++p) {
      auto const core = [&](int q) { return parts.core_of[static_cast<std::size_t>(q)]; };
      if (parts.core_of.empty() || p == 0 || core(p) != core(p - 1)) first_of_core_.add(p);
    }
    for (int d = 0; d < domains_; ++d) add_order(d);
    position_of_.assign(static_cast<std::size_t>(*std::max_element(cpus_.begin(), cpus_.end())) + 1,
                        -1);
    for (int p = 0; p < n; ++p) position_of_[static_cast<std::size_t>(cpu(p))] = p;
  }

  // Makes levels of packages, domains, L3 and L2 caches, as far as they differ.
  static CoreMap of(topology const& machine) { return CoreMap(parts_of(machine)); }
  // The same, with given distances: [domain][domain], of cpus there; the unit is the distance of
  // two cpus that share only their domain.
  static CoreMap of(topology const& machine, std::vector<std::vector<double>> const& between);

  int size() const noexcept { return static_cast<int>(cpus_.size()); }
  int cpu(int position) const noexcept { return cpus_[static_cast<std::size_t>(position)]; }
  // -1 for a cpu that the machine does not have
  int position(int cpu) const noexcept {
    auto const c = static_cast<std::size_t>(cpu);
    return cpu >= 0 && c < position_of_.size() ? position_of_[c] : -1;
  }
  // The first cpu of each core; all other free cpus are their siblings.
  PositionSet const& first_of_core() const noexcept { return first_of_core_; }

  int levels() const noexcept { return static_cast<int>(levels_.size()); }
  int domain_level() const noexcept { return static_cast<int>(within_.size()) - 1; }
  int domains() const noexcept { return domains_; }
  int sets(int level) const noexcept { return static_cast<int>(at(level).sets.size()); }
  Range set(int level, int index) const noexcept {
    return at(level).sets[static_cast<std::size_t>(index)];
  }
  int set_of(int level, int position) const noexcept {
    return at(level).set_of[static_cast<std::size_t>(position)];
  }
  Range around(int level, int position) const noexcept {
    return set(level, set_of(level, position));
  }

  // The domains by distance from this one, itself first; equally far ones in a ring that starts
  // after it.
  std::span<std::uint16_t const> domains_from(int domain) const noexcept {
    auto const n = static_cast<std::size_t>(domains_);
    return {orders_.data() + static_cast<std::size_t>(domain) * n, n};
  }

  double distance(int a, int b) const noexcept {
    if (a == b) return 0;
    int const from = set_of(domain_level(), a), to = set_of(domain_level(), b);
    if (from != to) return between_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    int level = 0;
    while (set_of(level, a) != set_of(level, b)) ++level;
    return within_[static_cast<std::size_t>(level)];
  }

 private:
  struct Level {
    std::vector<Range> sets;
    std::vector<std::uint16_t> set_of;  // [position]
  };

  static Parts parts_of(topology const& machine);

  Level const& at(int level) const noexcept { return levels_[static_cast<std::size_t>(level)]; }

  void add_level(std::vector<int> const& sizes) {
    Level level;
    int begin = 0;
    for (int s : sizes) {
      NIGH_ASSERT(s > 0, "a core set has cpus");
      NIGH_ASSERT(
          levels_.empty() || (around(levels() - 1, begin).begin == begin && begin + s <= size() &&
                              around(levels() - 1, begin + s - 1).end == begin + s),
          "a core set lies within one of the next level");
      level.set_of.insert(level.set_of.end(), static_cast<std::size_t>(s),
                          static_cast<std::uint16_t>(level.sets.size()));
      level.sets.push_back({begin, begin + s});
      begin += s;
    }
    NIGH_ASSERT(begin == size(), "each cpu is in a set of each level");
    levels_.push_back(std::move(level));
  }

  void add_order(int domain) {
    std::vector<std::uint16_t> ring;
    for (int step = 0; step < domains_; ++step)
      ring.push_back(static_cast<std::uint16_t>((domain + step) % domains_));
    auto const& row = between_[static_cast<std::size_t>(domain)];
    NIGH_ASSERT(static_cast<int>(row.size()) == domains_, "distances to all domains");
    std::stable_sort(ring.begin() + 1, ring.end(),
                     [&](std::uint16_t a, std::uint16_t b) { return row[a] < row[b]; });
    orders_.insert(orders_.end(), ring.begin(), ring.end());
  }

  std::vector<int> cpus_;
  std::vector<int> position_of_;  // [Linux's number]
  std::vector<double> within_;
  std::vector<std::vector<double>> between_;
  std::vector<Level> levels_;
  std::vector<std::uint16_t> orders_;  // [domain * domains + nth]
  PositionSet first_of_core_;
  int domains_ = 0;
};

// Caches may cross domains, and domains may cross packages. Cpus that belong together at the larger
// level stay together; a set is what remains of an object after that cut.
inline CoreMap::Parts CoreMap::parts_of(topology const& machine) {
  auto const by_cpu = [&](std::vector<std::vector<int>> const& groups) {
    std::vector<int> group_of(
        static_cast<std::size_t>(*std::max_element(machine.cpus().begin(), machine.cpus().end())) +
        1);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (int cpu : groups[g]) group_of[static_cast<std::size_t>(cpu)] = static_cast<int>(g);
    return group_of;
  };
  auto const packages = machine.groups(level::package);
  std::vector<std::vector<int>> domains;
  for (int d = 0; d < machine.cpu_domains(); ++d)
    domains.push_back(machine.domains()[static_cast<std::size_t>(d)].cpus);
  bool const packages_are_larger = packages.size() < domains.size();

  std::vector<std::vector<int>> columns;  // coarsest first
  std::vector<double> within;             // of those at and below the domains, coarsest first
  if (packages_are_larger) columns.push_back(by_cpu(packages));
  columns.push_back(by_cpu(domains));
  within.push_back(topology::amplification(level::domain));
  auto const domain_column = columns.size() - 1;
  if (!packages_are_larger && packages.size() > domains.size()) {
    columns.push_back(by_cpu(packages));
    within.push_back(topology::amplification(level::domain));
  }
  for (level l : {level::l3, level::l2}) {
    columns.push_back(by_cpu(machine.groups(l)));
    within.push_back(topology::amplification(l));
  }
  auto const cores = by_cpu(machine.groups(level::core));

  Parts parts;
  parts.cpus = machine.cpus();
  // the first column in which they differ, or the number of columns
  auto const differ_at = [&](int a, int b) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c][static_cast<std::size_t>(a)] != columns[c][static_cast<std::size_t>(b)])
        return c;
    return columns.size();
  };
  std::stable_sort(parts.cpus.begin(), parts.cpus.end(), [&](int a, int b) {
    auto const& column = [&]() -> std::vector<int> const& {
      auto const c = differ_at(a, b);
      return c < columns.size() ? columns[c] : cores;
    }();
    return column[static_cast<std::size_t>(a)] < column[static_cast<std::size_t>(b)];
  });
  for (int cpu : parts.cpus) parts.core_of.push_back(cores[static_cast<std::size_t>(cpu)]);

  std::vector<int> a_cpu_of;  // [domain]
  for (std::size_t c = columns.size(); c-- > 0;) {
    std::vector<int> sizes;
    for (std::size_t p = 0; p < parts.cpus.size(); ++p) {
      bool const begins = p == 0 || differ_at(parts.cpus[p - 1], parts.cpus[p]) <= c;
      if (begins) sizes.push_back(0);
      if (begins && c == domain_column) a_cpu_of.push_back(parts.cpus[p]);
      ++sizes.back();
    }
    // Sets of a single core say nothing, and neither do sets equal to those of the level below.
    bool const is_new = parts.levels.empty() || parts.levels.back() != sizes;
    bool const tells =
        c == domain_column || sizes.size() < static_cast<std::size_t>(machine.cores());
    if (!is_new || !tells) continue;
    if (c >= domain_column) parts.within.push_back(within[c - domain_column]);
    parts.levels.push_back(std::move(sizes));
  }
  for (int a : a_cpu_of) {
    parts.between.emplace_back();
    for (int b : a_cpu_of) parts.between.back().push_back(a == b ? 0 : machine.cpu_distance(a, b));
  }
  return parts;
}

inline CoreMap CoreMap::of(topology const& machine,
                           std::vector<std::vector<double>> const& between) {
  auto parts = parts_of(machine);
  double const unit = parts.within.back();
  for (double& distance : parts.within) distance /= unit;
  std::vector<std::size_t> domains;  // in hardware order
  for (int cpu : parts.cpus)
    if (auto const d = static_cast<std::size_t>(machine.domain_of_cpu(cpu));
        domains.empty() || domains.back() != d)
      domains.push_back(d);
  NIGH_ASSERT(domains.size() == parts.between.size() && between.size() == domains.size(),
              "a row of distances for each domain");
  for (std::size_t a = 0; a < domains.size(); ++a)
    for (std::size_t b = 0; b < domains.size(); ++b)
      parts.between[a][b] = a == b ? 0 : between[domains[a]][domains[b]];
  return CoreMap(std::move(parts));
}

}  // namespace nigh::policy
