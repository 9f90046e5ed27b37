// SPDX-License-Identifier: Apache-2.0
#include "ep/ep.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "npb_random.hpp"

namespace ep {

namespace {

constexpr Class all[] = {
    {'S', 24, -3.247834652034740e+3, -6.958407078382297e+3},
    {'W', 25, -2.863319731645753e+3, -6.320053679109499e+3},
    {'A', 28, -4.295875165629892e+3, -1.580732573678431e+4},
    {'B', 30, 4.033815542441498e+4, -2.660669192809235e+4},
};

constexpr std::uint64_t seed = 271828183;
constexpr int log_batch = 16;  // pairs that one thread makes in a row
// Batches of a parallel region: some tenths of a second each, so that whoever hands out cpus
// between regions gets to speak.
constexpr int region = 256;

struct Batch {
  double sum_x = 0, sum_y = 0;
  std::array<std::int64_t, 10> counts{};
};

Batch make_batch(int number) noexcept {
  constexpr std::uint64_t numbers = std::uint64_t{2} << log_batch;
  Batch b;
  auto random = npb_random::skip(seed, static_cast<std::uint64_t>(number) * numbers);
  auto const uniform = [&] {
    random = npb_random::next(random);
    return 2 * npb_random::value(random) - 1;
  };
  for (std::uint64_t pair = 0; pair < numbers / 2; ++pair) {
    double const x = uniform(), y = uniform();
    double const square = x * x + y * y;
    if (square > 1) continue;
    double const factor = std::sqrt(-2 * std::log(square) / square);
    double const gx = x * factor, gy = y * factor;
    ++b.counts[static_cast<std::size_t>(std::max(std::abs(gx), std::abs(gy)))];
    b.sum_x += gx;
    b.sum_y += gy;
  }
  return b;
}

bool near(double value, double published) noexcept {
  return std::abs(value - published) <= 1e-8 * std::abs(published);
}

}  // namespace

std::span<Class const> classes() noexcept { return all; }

Class const* find_class(std::string_view name) noexcept {
  if (name.size() != 1) return nullptr;
  for (Class const& c : all)
    if (c.name == std::toupper(static_cast<unsigned char>(name[0]))) return &c;
  return nullptr;
}

Result run(Class const& size) {
  int const batches = 1 << (size.log_pairs - log_batch);
  std::vector<Batch> made(static_cast<std::size_t>(batches));
  for (int first = 0; first < batches; first += region) {
    int const end = std::min(first + region, batches);
#pragma omp parallel for schedule(dynamic)
    for (int n = first; n < end; ++n) made[static_cast<std::size_t>(n)] = make_batch(n);
  }
  Result r;
  for (Batch const& b : made) {
    r.sum_x += b.sum_x;
    r.sum_y += b.sum_y;
    for (std::size_t l = 0; l < b.counts.size(); ++l) r.counts[l] += b.counts[l];
  }
  for (auto const count : r.counts) r.pairs += count;
  r.verified = near(r.sum_x, size.sum_x) && near(r.sum_y, size.sum_y);
  return r;
}

}  // namespace ep
