// SPDX-License-Identifier: Apache-2.0
#include "sim/mg/planes.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace nigh::sim::mg {

void plane_uses(Loop const& loop, int step, std::vector<PlaneUse>& uses) {
  uses.clear();
  int const k = loop.level;
  auto const read = [&](Array a, int level, int plane) {
    uses.push_back({a, level, plane, true, false});
  };
  auto const write = [&](Array a, int level, int plane) {
    uses.push_back({a, level, plane, false, true});
  };
  auto const change = [&](Array a, int level, int plane) {
    uses.push_back({a, level, plane, true, true});
  };
  switch (loop.what) {
    case Operator::zero:
      return write(loop.array, k, step);
    case Operator::restriction: {
      int const coarse = step + 1;
      for (int p = 2 * coarse - 1; p <= 2 * coarse + 1; ++p) read(Array::r, k, p);
      return write(Array::r, k - 1, coarse);
    }
    case Operator::prolongation:
      for (int p = step; p <= step + 1; ++p) read(Array::u, k - 1, p);
      for (int p = 2 * step; p <= 2 * step + 1; ++p) change(Array::u, k, p);
      return;
    case Operator::residual:
      for (int p = step; p <= step + 2; ++p) read(Array::u, k, p);
      if (!loop.is_finest) return change(Array::r, k, step + 1);
      read(Array::v, k, step + 1);
      return write(Array::r, k, step + 1);
    case Operator::smoother:
      for (int p = step; p <= step + 2; ++p) read(Array::r, k, p);
      return change(Array::u, k, step + 1);
  }
}

std::vector<Loop> iteration(int finest) {
  std::vector<Loop> loops;
  auto const then = [&](Operator what, int level) {
    loops.push_back({what, level, Array::u, level == finest});
  };
  for (int k = finest; k > 1; --k) then(Operator::restriction, k);
  then(Operator::zero, 1);
  then(Operator::smoother, 1);
  for (int k = 2; k < finest; ++k) {
    then(Operator::zero, k);
    then(Operator::prolongation, k);
    then(Operator::residual, k);
    then(Operator::smoother, k);
  }
  then(Operator::prolongation, finest);
  then(Operator::residual, finest);
  then(Operator::smoother, finest);
  then(Operator::residual, finest);
  return loops;
}

std::vector<Loop> start(int finest) {
  std::vector<Loop> loops{{Operator::zero, finest, Array::v, true},
                          {Operator::residual, finest, Array::u, true}};
  auto const rest = iteration(finest);
  loops.insert(loops.end(), rest.begin(), rest.end());
  return loops;
}

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// Of the first cache of that name, for all are alike; 0: the machine's file tells none.
double cache_bytes(topology_object const& o, std::string_view name) {
  if (o.type == topology_object::kind::cache && o.name.starts_with(name))
    return static_cast<double>(o.size_bytes);
  for (auto const& child : o.children)
    if (double const found = cache_bytes(child, name); found > 0) return found;
  return 0;
}

}  // namespace

// A group's cache is its L3 and the L2s of those cores that take part.
Planes::Planes(Machine const& machine, policy::CoreMap const& map, std::vector<int> const& cpus,
               int finest, std::vector<int> turns)
    : turns_(std::move(turns)),
      cache_of_(static_cast<std::size_t>(map.size()), 0),
      domains_(machine.shape.domains().size()) {
  for (int level = 0; level <= finest; ++level) {
    first_.push_back(size_.size());
    size_.insert(size_.end(), 3 * static_cast<std::size_t>(side(level) + 2), bytes(level));
  }
  home_.assign(size_.size(), nowhere);
  double const l3 = cache_bytes(machine.shape.root(), "L3");
  double const l2 = cache_bytes(machine.shape.root(), "L2");
  for (auto const& sharers : machine.shape.groups(nigh::level::l3)) {
    Cache cache{l3, 0, std::vector<double>(size_.size(), never), std::vector<int>(size_.size(), 0)};
    for (int const cpu : sharers) {
      int const position = map.position(cpu);
      cache_of_[static_cast<std::size_t>(position)] = caches();
      if (std::find(cpus.begin(), cpus.end(), position) != cpus.end()) cache.holds += l2;
    }
    if (cache.holds <= 0) cache.holds = -1;  // not even what begins at the same time
    caches_.push_back(std::move(cache));
  }
}

void Planes::add(int home, double in, double out, std::vector<Traffic>& traffic) const {
  auto const to = [&](int domain, double parts) {
    auto& t = traffic[static_cast<std::size_t>(domain)];
    t.in_gb += in * 1e-9 / parts;
    t.out_gb += out * 1e-9 / parts;
  };
  if (home != everywhere) return to(home, 1);
  for (int const domain : turns_) to(domain, static_cast<double>(turns_.size()));
}

double Planes::move(PlaneUse const& use, int cpu, std::vector<Traffic>& traffic) {
  auto const plane = index(use.array, use.level, use.plane);
  auto& cache = cache_of(cpu);
  bool const has = cache.gone_through - cache.had[plane] <= cache.holds;
  double const size = size_[plane];
  asked_ += size;
  if (!has) missed_ += size;
  // A line that is only written is read before, too.
  add(home_[plane], has ? 0 : size, use.writes ? size : 0, traffic);
  if (use.writes)
    for (auto& other : caches_) other.had[plane] = never;
  cache.had[plane] = cache.gone_through;
  bool const again = std::exchange(cache.last_loop[plane], loop_) == loop_;
  return has && again ? 0 : size;
}

std::vector<double> Planes::shares() const {
  std::vector<double> shares(domains_, 0);
  double all = 0;
  for (std::size_t p = 0; p < home_.size(); ++p) {
    if (home_[p] == nowhere) continue;
    all += size_[p];
    if (home_[p] != everywhere)
      shares[static_cast<std::size_t>(home_[p])] += size_[p];
    else
      for (int const d : turns_)
        shares[static_cast<std::size_t>(d)] += size_[p] / static_cast<double>(turns_.size());
  }
  for (double& s : shares) s /= all;
  return shares;
}

}  // namespace nigh::sim::mg
