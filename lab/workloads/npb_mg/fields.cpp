// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/fields.hpp"

#include <algorithm>
#include <functional>
#include <thread>

namespace npb_mg {

namespace {

constexpr std::size_t charges_of_a_sign = 10;

struct Drawn {
  std::uint64_t x = 0, number = 0;  // numbers of two points never tie: the period is 2^44
};

// The extreme ones, most extreme first.
template <class Before>
class Best {
 public:
  void offer(Drawn d) {
    if (best_.size() == charges_of_a_sign) {
      if (!before_(d.x, best_.back().x)) return;
      best_.pop_back();
    }
    auto const at = std::find_if(best_.begin(), best_.end(),
                                 [&](Drawn const& other) { return before_(d.x, other.x); });
    best_.insert(at, d);
  }
  std::vector<Drawn> const& list() const noexcept { return best_; }

 private:
  Before before_;
  std::vector<Drawn> best_;
};

struct Extremes {
  Best<std::less<>> smallest;
  Best<std::greater<>> largest;

  void draw(std::uint64_t first, std::uint64_t count) {
    std::uint64_t x = generator::skip(generator::seed, first);
    for (std::uint64_t number = first; number < first + count; ++number) {
      x = generator::next(x);
      smallest.offer({x, number});
      largest.offer({x, number});
    }
  }
  void merge(Extremes const& other) {
    for (Drawn const& d : other.smallest.list()) smallest.offer(d);
    for (Drawn const& d : other.largest.list()) largest.offer(d);
  }
};

std::vector<Point> points(std::vector<Drawn> const& list, std::uint64_t n) {
  std::vector<Point> out;
  for (auto const& [x, number] : list)
    out.push_back({static_cast<int>(number % n) + 1, static_cast<int>(number / n % n) + 1,
                   static_cast<int>(number / (n * n)) + 1});
  return out;
}

}  // namespace

Charges find_charges(int n, int threads) {
  auto const side = static_cast<std::uint64_t>(n);
  auto const parts = static_cast<std::uint64_t>(std::clamp(threads, 1, n));
  std::vector<Extremes> found(parts);
  auto const draw = [&](std::uint64_t part) {
    std::uint64_t const first = side * part / parts;
    std::uint64_t const last = side * (part + 1) / parts;
    found[part].draw(first * side * side, (last - first) * side * side);
  };
  {
    std::vector<std::jthread> helpers;
    for (std::uint64_t part = 1; part < parts; ++part) helpers.emplace_back(draw, part);
    draw(0);
  }
  for (std::uint64_t part = 1; part < parts; ++part) found[0].merge(found[part]);
  return {points(found[0].largest.list(), side), points(found[0].smallest.list(), side)};
}

namespace {

std::size_t elements(std::vector<Level> const& levels) {
  std::size_t sum = 0;
  for (Level const& level : levels) sum += level.elements();
  return sum;
}

}  // namespace

Fields::Fields(Class const& size, Placing const& placing)
    : levels_(levels_of(size.n)), touch_(placing.touch) {
  nigh::array_options options;
  options.machine = placing.machine;
  options.huge_pages = placing.huge_pages;
  u_ = nigh::array<double>(elements(levels_), placing.rule, options);
  r_ = nigh::array<double>(elements(levels_), placing.rule, options);
  v_ = nigh::array<double>(finest().elements(), placing.rule, options);
}

void Fields::clear(double* all, Level const& level, std::ptrdiff_t k) noexcept {
  double* const first = all + level.offset + k * level.layout.plane;
  std::ptrdiff_t const doubles =
      k <= level.n ? level.layout.plane
                   : static_cast<std::ptrdiff_t>(level.elements()) - k * level.layout.plane;
  std::fill_n(first, doubles, 0.0);
}

void Fields::put(Charges const& charges) noexcept {
  for (auto const& [i, j, k] : charges.minus) v(k)[j][i - 1] = -1;
  for (auto const& [i, j, k] : charges.plus) v(k)[j][i - 1] = 1;
}

}  // namespace npb_mg
