// SPDX-License-Identifier: Apache-2.0
// Hospitals of a tree of villages: in each step every village is a task, after those of its own
// villages. A hospital treats some patients, and sends those it cannot help to the one above.
#include <array>
#include <list>
#include <memory>
#include <vector>

#include "program.hpp"

namespace {

struct Patient {
  int village;
  int left;  // steps of treatment
  int times_sent = 0;
};

struct Village {
  Village(int level, int& next_number)
      : number(next_number++), sequence(static_cast<unsigned long>(number) + 1) {
    staff = 2 << level;
    if (level > 0)
      for (int i = 0; i < 4; ++i)
        villages.push_back(std::make_unique<Village>(level - 1, next_number));
  }
  int number, staff;
  task_program::Sequence sequence;
  std::vector<std::unique_ptr<Village>> villages;
  std::list<Patient> waiting, treated, sent_up;
  long healed = 0, steps_waited = 0;
};

void step_here(Village& v) {
  for (auto const& below : v.villages) v.waiting.splice(v.waiting.end(), below->sent_up);
  if (v.sequence.next() % 3 == 0)
    v.waiting.push_back({v.number, 2 + static_cast<int>(v.sequence.next() % 8)});
  for (auto p = v.treated.begin(); p != v.treated.end();) {
    if (--p->left > 0) {
      ++p;
      continue;
    }
    p = v.treated.erase(p);
    ++v.healed;
  }
  for (auto p = v.waiting.begin(); p != v.waiting.end();) {
    ++v.steps_waited;
    auto const here = p++;
    if (static_cast<int>(v.treated.size()) >= v.staff) continue;
    if (v.sequence.next() % 4 == 0 && here->times_sent < 3) {
      ++here->times_sent;
      v.sent_up.splice(v.sent_up.end(), v.waiting, here);
    } else {
      v.treated.splice(v.treated.end(), v.waiting, here);
    }
  }
}

void step(Village& v) {
  for (auto const& below : v.villages) {
    Village* const child = below.get();
#pragma omp task firstprivate(child)
    step(*child);
  }
#pragma omp taskwait
  step_here(v);
}

void step_serially(Village& v) {
  for (auto const& below : v.villages) step_serially(*below);
  step_here(v);
}

std::array<long, 4> totals(Village const& v) {
  std::array<long, 4> sum{v.healed, v.steps_waited, static_cast<long>(v.treated.size()),
                          static_cast<long>(v.waiting.size())};
  for (auto const& below : v.villages) {
    auto const part = totals(*below);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int const steps = static_cast<int>(task_program::size_from(argc, argv, 300, {1, 1'000'000})),
            levels = 5;
  int number = 0;
  Village country(levels, number), other(levels, number = 0);
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    for (int n = 0; n < steps; ++n) step(country);
  });
  for (int n = 0; n < steps; ++n) step_serially(other);
  return task_program::report(seconds, totals(country) == totals(other));
}
