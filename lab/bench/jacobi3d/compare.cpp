// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi3d/compare.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"

namespace bench {

namespace {

using jacobi3d::Init;
using jacobi3d::Order;
using jacobi3d::VariantInfo;

std::vector<Cell> cells_of(Init init) {
  std::vector<Cell> cells;
  for (VariantInfo const& v : jacobi3d::variants()) {
    if (v.name == "serial" || v.name == "nigh/queues-strict") continue;  // for single runs
    bool const has_ld0 = v.name.ends_with("/static") || v.name == "nigh/queues";
    if (v.make == nullptr || (init == Init::ld0 && !has_ld0)) continue;
    cells.push_back({&v, Order::kji, init});
    if (!v.by_tasks || init == Init::ld0) continue;
    cells.push_back({&v, Order::jki, init});
    if (v.name.ends_with("queues")) cells.push_back({&v, Order::strips, init});
  }
  return cells;
}

// The field after so many sweeps, by the definition.
std::uint64_t expected_checksum(JacobiOptions const& o, Crew& crew) {
  Problem problem(o, Init::contiguous, crew);
  problem.run_reference(o.sweeps);
  return problem.checksum();
}

double copy_rate(Problem& problem, Crew& crew, Stores stores) {
  constexpr int times = 2;
  double seconds = 0;
  for (int n = 0; n < times; ++n)
    seconds += seconds_to_copy(crew, problem.first(), problem.second(), problem.elements(), stores);
  return static_cast<double>(problem.elements()) * times / seconds / 1e6;
}

// Threads of the variant before are asleep by then.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

}  // namespace

double Comparison::limit(Stores stores) const {
  std::vector<double> all;
  for (auto const& [cell, m] : measured)
    if (auto const found = m.copies.find(stores); found != m.copies.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
  return median_of(all);
}

double share_of_limit(Measured const& m, Stores stores) {
  auto const found = m.copies.find(stores);
  if (found == m.copies.end()) return 0;
  std::vector<double> shares;
  for (std::size_t n = 0; n < m.rates.size(); ++n) shares.push_back(m.rates[n] / found->second[n]);
  return median_of(shares);
}

Comparison compare(JacobiOptions const& o) {
  constexpr Init inits[] = {Init::contiguous, Init::round_robin, Init::ld0};
  Comparison c;
  for (Init const init : inits)
    for (Cell const& cell : cells_of(init)) c.cells.push_back(cell);

  Crew crew(o.team.cpus);
  std::map<std::string, std::unique_ptr<jacobi3d::Variant>> alive;
  double const updates = static_cast<double>(o.grid.sites()) * o.sweeps;
  Progress progress(1 + o.repetitions * static_cast<int>(c.cells.size()));
  progress.step("serial reference");
  std::uint64_t const expected = expected_checksum(o, crew);

  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (Init const init : inits) {
      Problem problem(o, init, crew);
      for (Cell const& cell : c.cells) {
        if (cell.init != init) continue;
        progress.step(cell.variant->name);
        auto& variant = alive[cell.variant->name];
        if (variant == nullptr) variant = cell.variant->make(o.team);
        Measured& m = c.measured[cell];
        for (Stores const stores : {Stores::plain, Stores::streaming})
          if (stores == Stores::plain || streaming_copy_available())
            m.copies[stores].push_back(copy_rate(problem, crew, stores));
        problem.submit_in(cell.order);
        problem.refill();
        settle();
        double const seconds = problem.run(*variant, o.kernel, o.sweeps);
        m.rates.push_back(updates / seconds / 1e6);
        m.blocks.local += problem.blocks_run().local;
        m.blocks.remote += problem.blocks_run().remote;
        m.blocks.unknown += problem.blocks_run().unknown;
        m.verified = m.verified && problem.checksum() == expected;
      }
    }
  return c;
}

}  // namespace bench
