// SPDX-License-Identifier: Apache-2.0
// One thread, plane after plane.

#include "variants.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "npb_mg/plain_cycle.hpp"
#include "npb_mg/variant.hpp"

namespace npb_mg {

namespace {

class Serial {
 public:
  explicit Serial(Team const& team) { team.pin_thread(0); }

  template <class Body>
  void run(Body const& body) {
    body();
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    for (auto k = first; k < last; ++k) body(k);
  }
};

}  // namespace

void add_serial(std::vector<VariantInfo>& list) {
  list.push_back({"serial", make_one_caller<Serial>, {}});
}

namespace {

double root_mean_square(Sums const& sums, Class const& size) {
  return std::sqrt(sums.squares / static_cast<double>(size.points()));
}

void prepare(Variant& variant, Fields& fields, Charges const& charges) {
  if (fields.touch() == Touch::by_caller)
    for (int k = 0; k <= fields.finest().n + 1; ++k) fields.clear_u(fields.finest(), k);
  variant.clear(fields);
  fields.put(charges);
}

template <class... Values>
std::string line_of(char const* label, char const* format, Values... values) {
  char text[128], out[192];
  std::snprintf(text, sizeof text, format, values...);
  std::snprintf(out, sizeof out, " %-16s= %s\n", label, text);
  return out;
}

}  // namespace

Result run(Variant& variant, Fields& fields, Class const& size, Charges const& charges,
           Watch* watch) {
  prepare(variant, fields, charges);
  variant.solve(fields, *size.smoother, 1);
  prepare(variant, fields, charges);
  if (watch != nullptr) watch->begin();
  auto const start = std::chrono::steady_clock::now();
  Outcome const outcome = variant.solve(fields, *size.smoother, size.iterations);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  if (watch != nullptr) watch->end();

  Result r;
  r.seconds = took.count();
  r.residual = outcome.last;
  r.norm = root_mean_square(outcome.last, size);
  r.first_norm = root_mean_square(outcome.first, size);
  r.verified = verified(size, r.norm);
  r.mops = mops(size, r.seconds);
  r.solution_in_r = outcome.solution_in_r;
  return r;
}

std::string report(Result const& r, Class const& size, std::string const& variant, int threads) {
  std::string out = "\n MG Benchmark Completed\n";
  out += line_of("Class", "%c", size.name);
  out += line_of("Size", "%d x %d x %d", size.n, size.n, size.n);
  out += line_of("Iterations", "%d", size.iterations);
  out += line_of("Variant", "%s", variant.c_str());
  out += line_of("Threads", "%d", threads);
  out += line_of("Time in seconds", "%.4f", r.seconds);
  out += line_of("Mop/s total", "%.2f", r.mops);
  out += line_of("L2 norm", "%.13e", r.norm);
  out += line_of("Relative error", "%.3e", std::abs(r.norm - size.norm) / size.norm);
  out += line_of("Verification", "%s", r.verified ? "SUCCESSFUL" : "UNSUCCESSFUL");
  return out;
}

#if !defined(NIGH_WITH_OPENMP)
void add_openmp(std::vector<VariantInfo>& list) {
  for (char const* name : {"openmp/static", "openmp/dynamic", "openmp/runtime"})
    list.push_back({name, nullptr, "the compiler had no OpenMP"});
}
#endif

#if !defined(NIGH_WITH_TBB)
void add_tbb(std::vector<VariantInfo>& list) {
  for (char const* name : {"tbb/static", "tbb/auto"})
    list.push_back({name, nullptr, "this was built without oneTBB"});
}
#endif

#if !defined(NIGH_WITH_CILK)
void add_cilk(std::vector<VariantInfo>& list) {
  list.push_back({"cilk/for", nullptr, "the compiler was not OpenCilk's"});
}
#endif

#if !defined(NIGH_WITH_FASTFLOW)
void add_fastflow(std::vector<VariantInfo>& list) {
  for (char const* name : {"fastflow/static", "fastflow/dynamic"})
    list.push_back({name, nullptr, "this was built without FastFlow's headers"});
}
#endif

std::vector<VariantInfo> const& variants() {
  static std::vector<VariantInfo> const list = [] {
    std::vector<VariantInfo> all;
    add_serial(all);
    add_openmp(all);
    add_tbb(all);
    add_cilk(all);
    add_fastflow(all);
    add_nigh(all);
    add_nigh_fused(all);
    return all;
  }();
  return list;
}

VariantInfo const* find_variant(std::string_view name) {
  return workloads::find_variant(variants(), name);
}

}  // namespace npb_mg
