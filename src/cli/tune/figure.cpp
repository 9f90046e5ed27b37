// SPDX-License-Identifier: Apache-2.0
// The scalability figure: time by threads, as papers on such policies draw it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/svg.hpp"
#include "cli/tune/outcome.hpp"

namespace nigh::cli {
namespace {

constexpr double width = 720, height = 440;
constexpr double left = 70, right = 20, top = 50, bottom = 110;

struct Point {
  int at = 0;  // threads, or ranks
  double value = 0, low = 0, high = 0;
};

// The name of a configuration's line.
std::string line_of(Space const& space, std::size_t i) {
  auto const& request = space.requests[i];
  if (!space.ranks.empty())
    return to_string(Binding{*space.ranks[i].order}) + (space.ranks[i].smt ? ", shared cores" : "");
  return (request.bind ? to_string(*request.bind) : std::string("unbound")) + ", " +
         (request.memory ? to_string(*request.memory) : std::string("first touch"));
}

// By threads: for each binding and memory policy the best schedule; for ranks by their number: for
// each order the best number of threads.
std::map<std::string, std::map<int, Point>> lines_of(Outcome const& found) {
  std::map<std::string, std::map<int, Point>> lines;
  for (auto const& s : found.search.standings()) {  // best first
    auto const i = static_cast<std::size_t>(s.candidate);
    auto const& request = found.space.requests[i];
    bool const are_ranks = !found.space.ranks.empty();
    bool const is_placed = are_ranks ? found.space.ranks[i].order.has_value() : request.threads > 0;
    if (!is_placed || found.cut_short[i]) continue;
    int const at = are_ranks ? found.space.ranks[i].per_host : request.threads;
    auto low = found.metric.value_of_cost(s.low), high = found.metric.value_of_cost(s.high);
    if (low > high) std::swap(low, high);
    lines[line_of(found.space, i)].try_emplace(
        at, Point{at, found.metric.value_of_cost(s.cost), low, high});
  }
  return lines;
}

// The next round number, and as many steps to it.
std::pair<double, int> axis_end(double most) {
  double const magnitude = std::pow(10, std::floor(std::log10(most)));
  for (double const step : {0.1, 0.2, 0.25, 0.5, 1.0, 2.0})
    if (most <= 6 * step * magnitude)
      return {std::ceil(most / (step * magnitude)) * step * magnitude,
              static_cast<int>(std::ceil(most / (step * magnitude)))};
  return {10 * magnitude, 5};
}

class Figure {
 public:
  Figure(std::vector<int> across, std::string what, double most)
      : across_(std::move(across)), what_(std::move(what)) {
    std::tie(end_, steps_) = axis_end(most);
  }

  double x(int at) const {
    auto const first = std::log2(across_.front()), last = std::log2(across_.back());
    auto const part = last > first ? (std::log2(at) - first) / (last - first) : 0.5;
    return left + 30 + part * (width - left - right - 60);
  }
  double y(double value) const { return height - bottom - value / end_ * (height - top - bottom); }

  void axes(std::string const& title, std::string const& unit) {
    svg_.rect({0, 0, width, height}, 0, R"(fill="white")");
    svg_.text(width / 2, 26, R"(font-family="sans-serif" font-size="15" text-anchor="middle")",
              title);
    for (int i = 0; i <= steps_; ++i) {
      auto const value = end_ * i / steps_;
      stroke(left, y(value), width - right, y(value), i == 0 ? "#333" : "#ddd", 1);
      svg_.text(left - 8, y(value) + 4, small("end"), fmt::format("{:.4g}", value));
    }
    for (int const n : across_)
      svg_.text(x(n), height - bottom + 18, small("middle"), std::to_string(n));
    svg_.text(width / 2, height - bottom + 38, small("middle"), what_);
    svg_.text(left - 8, top - 10, small("end"), unit);
  }

  void line(std::string const& name, std::map<int, Point> const& points, std::size_t number) {
    static constexpr std::array colours{"#1b6ca8", "#d1495b", "#2e8b57",
                                        "#edae49", "#6a4c93", "#555555"};
    auto const* const colour = colours[number % colours.size()];
    Point const* before = nullptr;
    for (auto const& [n, p] : points) {
      if (before != nullptr) stroke(x(before->at), y(before->value), x(n), y(p.value), colour, 2);
      stroke(x(n), y(p.low), x(n), y(std::min(p.high, end_)), colour, 1);
      svg_.rect({x(n) - 3, y(p.value) - 3, 6, 6}, 3, fmt::format(R"(fill="{}")", colour),
                fmt::format("{} {}, {}: {:.4g}", n, what_, name, p.value));
      before = &p;
    }
    auto const column = static_cast<double>(number % 3), row = static_cast<double>(number / 3);
    auto const at_x = left + column * 210, at_y = height - 48 + row * 18;
    stroke(at_x, at_y - 4, at_x + 20, at_y - 4, colour, 2);
    svg_.text(at_x + 26, at_y, small("start"), name);
  }

  std::string document() const { return svg_.document(width, height); }

 private:
  static std::string small(char const* anchor) {
    return fmt::format(R"(font-family="sans-serif" font-size="12" text-anchor="{}")", anchor);
  }
  void stroke(double x1, double y1, double x2, double y2, char const* colour, int thick) {
    svg_.raw(fmt::format(
        R"(<line x1="{:.5g}" y1="{:.5g}" x2="{:.5g}" y2="{:.5g}" stroke="{}" stroke-width="{}"/>)",
        x1, y1, x2, y2, colour, thick));
  }

  Svg svg_;
  std::vector<int> across_;  // what the horizontal axis has
  std::string what_;
  double end_ = 1;
  int steps_ = 1;
};

}  // namespace

std::string figure_svg(Outcome const& found, std::string const& title) {
  auto const lines = lines_of(found);
  std::set<int> across;
  double most = 0;
  for (auto const& [name, points] : lines)
    for (auto const& [n, p] : points) across.insert(n), most = std::max(most, p.value);
  if (across.empty()) across.insert(1), most = 1;
  Figure figure({across.begin(), across.end()},
                found.space.ranks.empty() ? "threads" : "ranks on a host", most);
  figure.axes(title, found.metric.is_time() ? "s" : "value");
  std::size_t number = 0;
  for (auto const& [name, points] : lines) figure.line(name, points, number++);
  return figure.document();
}

}  // namespace nigh::cli
