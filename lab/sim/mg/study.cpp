// SPDX-License-Identifier: Apache-2.0
// The statements, one after the other as the text makes them, and what the simulation has for them.

#include "sim/mg/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/assert.hpp"

namespace nigh::sim {

double MgStudy::mean_speedup(MgCurve const& curve) const {
  double sum = 0;
  for (std::size_t i = 0; i < threads.size(); ++i) sum += speedup(curve, i);
  return sum / static_cast<double>(threads.size());
}

MgCurve const* MgStudy::find(Framework framework, bool dynamic, cpu_order order,
                             MgPages pages) const {
  auto const found = std::find_if(curves.begin(), curves.end(), [&](MgCurve const& c) {
    return c.what.framework == framework && c.what.dynamic == dynamic && c.what.order == order &&
           c.what.pages == pages;
  });
  return found == curves.end() ? nullptr : &*found;
}

std::vector<int> mg_thread_counts(Machine const& machine) {
  int const all = static_cast<int>(machine.shape.cores());
  int const step = all <= 32 ? 2 : (all + 15) / 16;
  std::vector<int> counts{1, all};
  for (int n = step; n < all; n += step) counts.push_back(n);
  for (auto const& package : machine.shape.groups(level::package))
    counts.push_back(std::min(static_cast<int>(package.size()), all));
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<MgCase> mg_cases(Machine const& machine, MgClass const& size) {
  bool const has_memory_apart =
      static_cast<int>(machine.shape.domains().size()) > machine.shape.cpu_domains();
  std::vector<MgCase> cases;
  using enum Framework;
  for (auto [framework, dynamic] :
       {std::pair{openmp, false}, std::pair{openmp, true}, std::pair{cilk, true},
        std::pair{fastflow, false}, std::pair{fastflow, true}})
    for (auto const order : {cpu_order::compact, cpu_order::scatter})
      for (auto const pages : {MgPages::first_touch, MgPages::interleaved, MgPages::everywhere}) {
        if (pages == MgPages::everywhere && !has_memory_apart) continue;
        MgCase one;
        one.framework = framework;
        one.dynamic = dynamic;
        one.order = order;
        one.pages = pages;
        one.finest = size.finest;
        one.iterations = size.iterations;
        cases.push_back(one);
      }
  return cases;
}

MgStudy study_mg(Machine const& machine, std::vector<MgCase> const& cases,
                 std::vector<int> const& threads, std::uint64_t seed) {
  MgStudy study{threads, {}};
  for (MgCase what : cases) {
    MgCurve curve{what, {}, {}};
    for (int const n : threads) {
      what.threads = n;
      curve.outcomes.push_back(run_mg(machine, what, seed));
      curve.seconds.push_back(curve.outcomes.back().iteration_s * what.iterations);
    }
    curve.what.threads = threads.back();
    study.curves.push_back(std::move(curve));
  }
  return study;
}

std::string name_of(MgCase const& what) {
  std::string name(framework_names[static_cast<std::size_t>(what.framework)]);
  return what.framework == Framework::cilk ? name : name + (what.dynamic ? "/dynamic" : "/static");
}

std::string_view name_of(cpu_order order) {
  return order == cpu_order::compact ? "compact" : "scatter";
}

std::string_view name_of(MgPages pages) {
  return pages == MgPages::first_touch   ? "first touch"
         : pages == MgPages::interleaved ? "interleave"
                                         : "interleave all";
}

namespace {

constexpr auto compact = cpu_order::compact, scatter = cpu_order::scatter;
constexpr auto first_touch = MgPages::first_touch, interleaved = MgPages::interleaved;
// Two times are different when they are further apart.
constexpr double alike = 0.02;

class Text {
 public:
  Text(MgStudy const& study, Machine const& machine)
      : study_(study), all_(study.threads.size() - 1) {
    auto const socket = static_cast<int>(machine.shape.groups(level::package).front().size());
    one_socket_ = static_cast<std::size_t>(
        std::find(study.threads.begin(), study.threads.end(), socket) - study.threads.begin());
    NIGH_ASSERT(one_socket_ < all_, "a full socket is among what was simulated");
  }

  std::vector<MgStatement> take() {
    compact_stops();
    sockets_loads();
    interleaving();
    dynamic_schedules();
    return std::move(statements_);
  }

 private:
  MgCurve const& curve(Framework f, bool dynamic, cpu_order order, MgPages pages) const {
    auto const* const found = study_.find(f, dynamic, order, pages);
    NIGH_ASSERT(found != nullptr, "each case was simulated");
    return *found;
  }
  MgCurve const& openmp(bool dynamic, cpu_order order, MgPages pages) const {
    return curve(Framework::openmp, dynamic, order, pages);
  }
  double at_end(MgCurve const& c) const { return study_.speedup(c, all_); }
  // The gain by the threads of the second socket, beside that by those of the first.
  double second_socket(MgCurve const& c) const {
    return at_end(c) / study_.speedup(c, one_socket_) - 1;
  }
  // Of traffic, what domain 0's memory has; mean over all counts that need the second socket.
  double load_of_first(MgCurve const& c) const {
    double sum = 0;
    for (auto i = one_socket_ + 1; i <= all_; ++i) sum += c.outcomes[i].load.front();
    return sum / static_cast<double>(all_ - one_socket_);
  }
  double gb_per_s(MgCurve const& c) const {
    return c.outcomes[all_].gb / c.outcomes[all_].iteration_s;
  }
  void state(std::string text, std::string simulated, bool holds) {
    statements_.push_back({std::move(text), std::move(simulated), holds});
  }

  void compact_stops() {
    auto const& one = openmp(false, compact, first_touch);
    state("compact stops scaling at the second socket (OpenMP)",
          fmt::format("{} threads {:.1f}x, {} threads {:.1f}x", study_.threads[one_socket_],
                      study_.speedup(one, one_socket_), study_.threads[all_], at_end(one)),
          second_socket(one) < 0.5);
    auto const& cilk = curve(Framework::cilk, true, compact, first_touch);
    auto const& fastflow = curve(Framework::fastflow, false, compact, first_touch);
    double const a = second_socket(one), b = second_socket(cilk), c = second_socket(fastflow);
    state("OpenMP and Cilk have more room for improvement than FastFlow",
          fmt::format("second socket adds {:.0f}% and {:.0f}%; FastFlow {:.0f}%", 100 * a, 100 * b,
                      100 * c),
          a < c && b < c);
    state("this is a problem especially for OpenMP",
          fmt::format("its second socket adds {:.0f}%, Cilk's {:.0f}%", 100 * a, 100 * b), a < b);
  }

  void sockets_loads() {
    auto const& fixed = openmp(false, compact, first_touch);
    auto const& dynamic = openmp(true, compact, first_touch);
    double const a = load_of_first(fixed), b = load_of_first(dynamic);
    state("compact: socket 0's memory has more to do, by both schedules",
          fmt::format("static {:.0f}%, dynamic {:.0f}% of the traffic", 100 * a, 100 * b),
          a > 0.55 && b > 0.55);
    double const rest = std::max({a, load_of_first(openmp(false, scatter, first_touch)),
                                  load_of_first(openmp(true, scatter, first_touch))});
    state("dynamic + compact loads socket 0 most",
          fmt::format("{:.0f}%, other first touch at most {:.0f}%", 100 * b, 100 * rest), b > rest);
    auto const other_share = [&](MgCurve const& c) {
      return 1 - c.outcomes[all_].resident.front();
    };
    state("all threads: static has more of the data on socket 1 than dynamic",
          fmt::format("static {:.0f}%, dynamic {:.0f}%", 100 * other_share(fixed),
                      100 * other_share(dynamic)),
          other_share(fixed) > other_share(dynamic));
    auto const& s = openmp(false, scatter, first_touch);
    auto const& d = openmp(true, scatter, first_touch);
    state("scatter, first touch: static is better than dynamic",
          fmt::format("{:.1f}x and {:.1f}x", at_end(s), at_end(d)), at_end(s) > at_end(d));
  }

  void interleaving() {
    struct Base {
      Framework framework;
      bool dynamic;
      char const* name;
    };
    for (Base const b :
         {Base{Framework::openmp, false, "OpenMP"}, Base{Framework::cilk, true, "Cilk"},
          Base{Framework::fastflow, false, "FastFlow"}}) {
      auto const mean = [&](cpu_order order, MgPages pages) {
        return study_.mean_speedup(curve(b.framework, b.dynamic, order, pages));
      };
      double const ours = mean(scatter, interleaved), before = mean(compact, first_touch);
      state(fmt::format("scatter + interleave scales better than compact ({})", b.name),
            fmt::format("mean {:.1f}x and {:.1f}x", ours, before), ours > before * (1 + alike));
      double const others = std::max(mean(compact, interleaved), mean(scatter, first_touch));
      state(fmt::format("and best of the four ways ({})", b.name),
            fmt::format("compact + interleave {:.1f}x, scatter + first touch {:.1f}x",
                        mean(compact, interleaved), mean(scatter, first_touch)),
            ours > std::max(others, before));
    }
    auto const& with = openmp(false, scatter, interleaved);
    double const a = gb_per_s(openmp(false, compact, first_touch));
    double const b = gb_per_s(openmp(true, compact, first_touch));
    double const first = with.outcomes[all_].load.front();
    state("its bandwidth is above both compact cases', and even",
          fmt::format("{:.0f} GB/s beside {:.0f} and {:.0f}; socket 0 {:.0f}%", gb_per_s(with), a,
                      b, 100 * first),
          gb_per_s(with) > std::max(a, b) && std::abs(first - 0.5) < 0.05);
  }

  void dynamic_schedules() {
    auto const& fixed = openmp(false, scatter, interleaved);
    auto const& dynamic = openmp(true, scatter, interleaved);
    // The others that the text has. It has no dynamic loops with compact and interleave, which with
    // all threads are on the same cpus.
    double first_touched = 0;
    for (bool const is_dynamic : {false, true})
      for (auto const order : {compact, scatter})
        first_touched = std::max(first_touched, at_end(openmp(is_dynamic, order, first_touch)));
    state("dynamic + scatter + interleave is best for OpenMP",
          fmt::format("{:.1f}x; static {:.1f}x, first touch at most {:.1f}x", at_end(dynamic),
                      at_end(fixed), first_touched),
          at_end(dynamic) > std::max(at_end(fixed), first_touched) * (1 + alike));
    state("then dynamic misses the last cache less",
          fmt::format("{:.0f}% and {:.0f}% of what was asked", 100 * dynamic.outcomes[all_].missed,
                      100 * fixed.outcomes[all_].missed),
          dynamic.outcomes[all_].missed < fixed.outcomes[all_].missed);
    double const a = at_end(curve(Framework::fastflow, false, scatter, interleaved));
    double const b = at_end(curve(Framework::fastflow, true, scatter, interleaved));
    state("for FastFlow it makes no difference", fmt::format("{:.1f}x and {:.1f}x", a, b),
          std::abs(b / a - 1) < 0.03);
    double const cilk = at_end(curve(Framework::cilk, true, scatter, interleaved));
    state("in the end OpenMP scales best",
          fmt::format("{:.1f}x; Cilk {:.1f}x, FastFlow {:.1f}x", at_end(dynamic), cilk,
                      std::max(a, b)),
          at_end(dynamic) > std::max({cilk, a, b}));
  }

  MgStudy const& study_;
  std::size_t one_socket_ = 0, all_;
  std::vector<MgStatement> statements_;
};

}  // namespace

std::vector<MgStatement> statements(MgStudy const& study, Machine const& machine) {
  return Text(study, machine).take();
}

}  // namespace nigh::sim
