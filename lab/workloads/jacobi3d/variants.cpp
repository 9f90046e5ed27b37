// SPDX-License-Identifier: Apache-2.0
// One thread, block after block.

#include "variants.hpp"

#include "jacobi3d/variant.hpp"

namespace jacobi3d {

namespace {

class Serial : public Variant {
 public:
  void sweep(Sweep const& s) override {
    for (int const block : s.plan->submission) s.run(block);
  }
};

}  // namespace

void add_serial(std::vector<VariantInfo>& list) {
  list.push_back({"serial",
                  true,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    team.pin_thread(0);
                    return std::make_unique<Serial>();
                  },
                  {}});
}

#if !defined(NIGH_WITH_OPENMP)
void add_openmp_worksharing(std::vector<VariantInfo>& list) {
  for (char const* name : {"openmp/static", "openmp/dynamic", "openmp/guided"})
    list.push_back({name, false, nullptr, "the compiler had no OpenMP"});
}
void add_openmp_tasks(std::vector<VariantInfo>& list) {
  list.push_back({"openmp/tasks", true, nullptr, "the compiler had no OpenMP"});
}
void add_openmp_locality_queues(std::vector<VariantInfo>& list) {
  list.push_back({"openmp/tasks+queues", true, nullptr, "the compiler had no OpenMP"});
}
#endif

#if !defined(NIGH_WITH_TBB)
void add_tbb(std::vector<VariantInfo>& list) {
  for (char const* name : {"tbb/blocks", "tbb/domain-arenas"})
    list.push_back({name, false, nullptr, "this was built without oneTBB"});
}
#endif

std::vector<VariantInfo> const& variants() {
  static std::vector<VariantInfo> const list = [] {
    std::vector<VariantInfo> all;
    add_serial(all);
    add_openmp_worksharing(all);
    add_openmp_tasks(all);
    add_openmp_locality_queues(all);
    add_tbb(all);
    add_nigh(all);
    add_nigh_loops(all);
    add_nigh_teams(all);
    add_nigh_two_steps(all);
    add_nigh_temporal(all);
    return all;
  }();
  return list;
}

VariantInfo const* find_variant(std::string_view name) {
  return workloads::find_variant(variants(), name);
}

}  // namespace jacobi3d
