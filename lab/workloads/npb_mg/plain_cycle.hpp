// SPDX-License-Identifier: Apache-2.0
#pragma once
// The V-cycle operator by operator, each a parallel loop over planes: what a user would write, and
// what every runtime gets the same of. The reference codes differ in this only: they refresh the
// ghosts in i and j in a pass of their own, where here they are set while a plane is in cache.
//
// Loops is a runtime's way to run a loop:
//
//   void operator()(ptrdiff_t first, ptrdiff_t last, body)    calls body(k) for k = first .. last-1
//                                                             and returns when all are through
//
// A team of threads may go through the whole cycle together and share each loop (OpenMP's orphaned
// ones), so nothing but the loops' bodies writes what others read.

#include <algorithm>
#include <cmath>
#include <vector>

#include "npb_mg/tile.hpp"
#include "npb_mg/variant.hpp"

namespace npb_mg {

// One place for each plane, made before a team begins.
struct PlaneSums {
  explicit PlaneSums(int n) : of(static_cast<std::size_t>(n) + 2) {}
  Sums total() const noexcept {
    Sums sum;
    for (Sums const& s : of) sum.add(s);
    return sum;
  }
  std::vector<Sums> of;
};

template <class Loops>
class PlainCycle {
 public:
  PlainCycle(Loops& loops, Fields& fields, Kernel const& kernel, Weights const& smoother,
             PlaneSums& sums)
      : loops_(loops), f_(fields), kernel_(kernel), smoother_(smoother), sums_(sums) {}

  static void clear(Loops& loops, Fields& f) {
    Level const& finest = f.finest();
    for (int l = f.levels() - 1; l >= 0; --l) {
      Level const& level = f.level(l);
      // A ghost plane goes with its neighbour.
      loops(1, level.n + 1, [&](std::ptrdiff_t k) {
        auto const first = k == 1 ? 0 : k;
        auto const last = k == level.n ? k + 1 : k;
        for (auto p = first; p <= last; ++p) {
          f.clear_u(level, p);
          f.clear_r(level, p);
          if (&level == &finest) f.clear_v(p);
        }
      });
    }
  }

  Outcome solve(int iterations) {
    Outcome outcome;
    int const top = f_.levels() - 1;
    residual_of_finest();
    outcome.first = norm();
    for (int done = 0; done < iterations; ++done) {
      for (int l = top; l > 0; --l) restrict_to(l - 1);
      clear_u(0);
      smooth(0);
      for (int l = 1; l < top; ++l) {
        clear_u(l);
        prolong_to(l);
        residual_in_place(l);
        smooth(l);
      }
      prolong_to(top);
      residual_of_finest();
      smooth(top);
      residual_of_finest();
    }
    outcome.last = norm();
    return outcome;
  }

 private:
  Three r_around(Level const& level, std::ptrdiff_t k) {
    return {f_.r(level, k - 1), f_.r(level, k), f_.r(level, k + 1)};
  }
  Three u_around(Level const& level, std::ptrdiff_t k) {
    return {f_.u(level, k - 1), f_.u(level, k), f_.u(level, k + 1)};
  }

  // The ghost rows of a plane, from which those in the planes' ghosts are copied.
  static void wrap_rows(Level const& level, Out plane) {
    copy_row(level, plane[level.n], plane[0]);
    copy_row(level, plane[1], plane[level.n + 1]);
  }
  static void copy_row(Level const& level, double const* from, double* to) {
    std::copy(from - 1, from + level.n + 1, to - 1);
  }
  template <class PlaneOf>
  void wrap_planes(Level const& level, PlaneOf const& plane) {
    loops_(0, level.n + 2, [&](std::ptrdiff_t j) {
      copy_row(level, plane(level.n)[j], plane(0)[j]);
      copy_row(level, plane(1)[j], plane(level.n + 1)[j]);
    });
  }
  void wrap_r_planes(Level const& level) {
    wrap_planes(level, [&](std::ptrdiff_t k) { return f_.r(level, k); });
  }
  void wrap_u_planes(Level const& level) {
    wrap_planes(level, [&](std::ptrdiff_t k) { return f_.u(level, k); });
  }

  void residual_of_finest() {
    Level const& level = f_.finest();
    loops_(1, level.n + 1, [&](std::ptrdiff_t k) {
      kernel_.residual(level.n, 1, level.n + 1, u_around(level, k), f_.v(k), f_.r(level, k));
      wrap_rows(level, f_.r(level, k));
    });
    wrap_r_planes(level);
  }
  void residual_in_place(int l) {
    Level const& level = f_.level(l);
    loops_(1, level.n + 1, [&](std::ptrdiff_t k) {
      kernel_.residual(level.n, 1, level.n + 1, u_around(level, k), f_.r(level, k), f_.r(level, k));
      wrap_rows(level, f_.r(level, k));
    });
    wrap_r_planes(level);
  }
  void smooth(int l) {
    Level const& level = f_.level(l);
    loops_(1, level.n + 1, [&](std::ptrdiff_t k) {
      kernel_.smooth(level.n, 1, level.n + 1, smoother_, r_around(level, k), f_.u(level, k),
                     f_.u(level, k), {});
      wrap_rows(level, f_.u(level, k));
    });
    wrap_u_planes(level);
  }
  void restrict_to(int l) {
    Level const& coarse = f_.level(l);
    Level const& fine = f_.level(l + 1);
    loops_(1, coarse.n + 1, [&](std::ptrdiff_t k) {
      kernel_.restrict_to(coarse.n, 1, coarse.n + 1, r_around(fine, 2 * k), f_.r(coarse, k));
      wrap_rows(coarse, f_.r(coarse, k));
    });
    wrap_r_planes(coarse);
  }
  // Ghost planes and rows too: they follow from the coarse level's.
  void prolong_to(int l) {
    Level const& coarse = f_.level(l - 1);
    Level const& fine = f_.level(l);
    loops_(0, fine.n + 2, [&](std::ptrdiff_t k) {
      Out const u = f_.u(fine, k);
      for (std::ptrdiff_t j = 0; j <= fine.n + 1; ++j) {
        CoarseRows const z(j, k, [&](std::ptrdiff_t kc) { return f_.u(coarse, kc); });
        kernel_.prolong(fine.n, z.rows(), u[j], u[j]);
      }
    });
  }
  void clear_u(int l) {
    Level const& level = f_.level(l);
    loops_(0, level.n + 2, [&](std::ptrdiff_t k) { f_.clear_u(level, k); });
  }
  Sums norm() {
    Level const& level = f_.finest();
    loops_(1, level.n + 1, [&](std::ptrdiff_t k) {
      sums_.of[static_cast<std::size_t>(k)] = kernel_.sums(level.n, 1, level.n + 1, f_.r(level, k));
    });
    return sums_.total();
  }

  Loops& loops_;
  Fields& f_;
  Kernel const& kernel_;
  Weights const& smoother_;
  PlaneSums& sums_;
};

// A variant whose loops are begun by one thread, and joined by it.

// `Runtime` is a Loops (see PlainCycle) made from a Team and what else it asks for; its run(body)
// calls body() in the thread that begins loops.
template <class Runtime>
class OneCaller : public Variant {
 public:
  template <class... More>
  explicit OneCaller(Team const& team, More const&... more)
      : kernel_(*team.kernel), runtime_(team, more...) {}

  void clear(Fields& fields) override {
    runtime_.run([&] { PlainCycle<Runtime>::clear(runtime_, fields); });
  }
  Outcome solve(Fields& fields, Weights const& smoother, int iterations) override {
    Outcome outcome;
    PlaneSums sums(fields.finest().n);
    runtime_.run(
        [&] { outcome = PlainCycle(runtime_, fields, kernel_, smoother, sums).solve(iterations); });
    return outcome;
  }
  Runtime const& runtime() const noexcept { return runtime_; }

 private:
  Kernel const& kernel_;
  Runtime runtime_;
};

template <class Runtime>
std::unique_ptr<Variant> make_one_caller(Team const& team) {
  return std::make_unique<OneCaller<Runtime>>(team);
}

}  // namespace npb_mg
