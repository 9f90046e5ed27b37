// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/run.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace npb_mg {

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

}  // namespace npb_mg
