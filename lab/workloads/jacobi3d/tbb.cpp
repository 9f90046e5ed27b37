// SPDX-License-Identifier: Apache-2.0
// oneTBB: a blocked range over all blocks, and one arena for each domain.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/blocked_range3d.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

namespace tbb = oneapi::tbb;

// Pins whoever enters the arena to the cpu of the slot it takes there.
class PinSlots : public tbb::task_scheduler_observer {
 public:
  PinSlots(tbb::task_arena& arena, Team const& team, std::vector<int> cpus)
      : task_scheduler_observer(arena), pin_(team.pin), cpus_(std::move(cpus)) {
    if (pin_ != nullptr) observe(true);
  }
  ~PinSlots() override { observe(false); }

  void on_scheduler_entry(bool) override {
    auto const slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    if (slot < cpus_.size()) pin_(cpus_[slot]);
  }

 private:
  bool (*pin_)(int);
  std::vector<int> cpus_;
};

class BlockedRange : public Variant {
 public:
  explicit BlockedRange(Team const& team)
      : limit_(tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(team.threads())),
        arena_(team.threads()),
        pins_(arena_, team, team.cpus) {}

  void sweep(Sweep const& s) override {
    Blocks const& blocks = s.plan->blocks;
    auto const [ni, nj, nk] = blocks.along();
    tbb::blocked_range3d<std::ptrdiff_t> const all(0, nk, 0, nj, 0, ni);
    arena_.execute([&] {
      tbb::parallel_for(all, [&](tbb::blocked_range3d<std::ptrdiff_t> const& part) {
        for (auto kb = part.pages().begin(); kb != part.pages().end(); ++kb)
          for (auto jb = part.rows().begin(); jb != part.rows().end(); ++jb)
            for (auto ib = part.cols().begin(); ib != part.cols().end(); ++ib)
              s.run(blocks.number(ib, jb, kb));
      });
    });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
  PinSlots pins_;
};

// The way that oneTBB's documentation advises for NUMA: an arena constrained to each domain, work
// handed out to them beforehand, a wait for all.
class DomainArenas : public Variant {
 public:
  explicit DomainArenas(Team const& team)
      : limit_(tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(team.threads())) {
    auto const numa_nodes = tbb::info::numa_nodes();
    domains_.resize(team.machine->domains().size());
    for (nigh::domain const& d : team.machine->domains()) {
      std::vector<int> cpus;
      for (int const cpu : team.cpus)
        if (team.machine->domain_of_cpu(cpu) == d.index) cpus.push_back(cpu);
      if (cpus.empty()) continue;
      bool const known =
          std::find(numa_nodes.begin(), numa_nodes.end(), d.os_node) != numa_nodes.end();
      tbb::task_arena::constraints const where(known ? d.os_node : tbb::task_arena::automatic,
                                               static_cast<int>(cpus.size()));
      domains_[static_cast<std::size_t>(d.index)] =
          std::make_unique<Domain>(where, team, std::move(cpus));
      with_cpus_.push_back(domains_[static_cast<std::size_t>(d.index)].get());
    }
  }

  void sweep(Sweep const& s) override {
    for (Domain* d : with_cpus_) d->blocks.clear();
    for (int block = 0; block < s.plan->blocks.size(); ++block)
      arena_for(s.plan->home[static_cast<std::size_t>(block)]).blocks.push_back(block);
    for (Domain* d : with_cpus_)
      d->arena.execute([&s, d] {
        d->group.run([&s, d] {
          tbb::parallel_for(tbb::blocked_range<std::size_t>(0, d->blocks.size()),
                            [&](tbb::blocked_range<std::size_t> const& part) {
                              for (auto n = part.begin(); n != part.end(); ++n) s.run(d->blocks[n]);
                            });
        });
      });
    for (Domain* d : with_cpus_) d->arena.execute([d] { d->group.wait(); });
  }

 private:
  struct Domain {
    tbb::task_arena arena;
    PinSlots pins;
    tbb::task_group group;
    std::vector<int> blocks;

    Domain(tbb::task_arena::constraints const& where, Team const& team, std::vector<int> cpus)
        : arena(where), pins(arena, team, std::move(cpus)) {}
  };

  // Blocks of a memory-only domain go to the first arena.
  Domain& arena_for(int domain) {
    auto const d = static_cast<std::size_t>(domain);
    return domain >= 0 && d < domains_.size() && domains_[d] ? *domains_[d] : *with_cpus_.front();
  }

  tbb::global_control limit_;
  std::vector<std::unique_ptr<Domain>> domains_;  // [domain], null where it has none of our cpus
  std::vector<Domain*> with_cpus_;
};

template <class T>
std::unique_ptr<Variant> make(Team const& team) {
  return std::make_unique<T>(team);
}

}  // namespace

void add_tbb(std::vector<VariantInfo>& list) {
  list.push_back({"tbb/blocks", false, make<BlockedRange>, {}});
  list.push_back({"tbb/domain-arenas", false, make<DomainArenas>, {}});
}

}  // namespace jacobi3d
