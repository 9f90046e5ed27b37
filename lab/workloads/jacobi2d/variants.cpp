// SPDX-License-Identifier: Apache-2.0
// One thread, block after block.

#include "variants.hpp"

#include <chrono>

#include "jacobi2d/variant.hpp"

namespace jacobi2d {

namespace {

class Serial : public Variant {
 public:
  void run(Work& work) override {
    for (int block = 0; block < work.blocks(); ++block) {
      work.begin(block);
      for (int step = 0; step < work.steps(); ++step) work.rows(block, step, 0, work.points());
      work.end(block);
    }
  }
};

}  // namespace

void add_serial(std::vector<VariantInfo>& list) {
  list.push_back({.name = "serial", .make = [](Team const& team) -> std::unique_ptr<Variant> {
                    team.pin_thread(0);
                    return std::make_unique<Serial>();
                  }});
}

void fill(Variant& variant, Blocks& blocks) {
  variant.inside([&] { variant.run(blocks.fill()); });
}

double iterate(Variant& variant, Blocks& blocks, int iterations) {
  std::chrono::duration<double> took{};
  variant.inside([&] {
    auto const start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) {
      blocks.begin_iteration();
      variant.run(blocks.visit());
      blocks.end_iteration();
    }
    took = std::chrono::steady_clock::now() - start;
  });
  return took.count();
}

std::uint64_t checksum(Variant& variant, Blocks& blocks) {
  variant.inside([&] { variant.run(blocks.checksums()); });
  return blocks.checksum();
}

#if !defined(NIGH_WITH_OPENMP)
void add_openmp(std::vector<VariantInfo>& list) {
  for (char const* name : {"openmp/blocks", "openmp/rows", "openmp/nested"})
    list.push_back({.name = name, .why_absent = "the compiler had no OpenMP"});
}
#endif

std::vector<VariantInfo> const& variants() {
  static std::vector<VariantInfo> const list = [] {
    std::vector<VariantInfo> all;
    add_serial(all);
    add_openmp(all);
    add_nigh(all);
    return all;
  }();
  return list;
}

VariantInfo const* find_variant(std::string_view name) {
  return workloads::find_variant(variants(), name);
}

}  // namespace jacobi2d
