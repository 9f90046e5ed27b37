// SPDX-License-Identifier: Apache-2.0
// Somebody else who wants the cpus too.

#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/tasks/studies.hpp"
#include "platform/progress.hpp"
#include "workloads/problem.hpp"

namespace bench {

namespace {

// A child process with one thread that computes without end while it is let. Ends with ours.
class BusyProcess {
 public:
  BusyProcess();  // stopped; std::runtime_error when it cannot be made
  ~BusyProcess();
  BusyProcess(BusyProcess&&) = delete;
  BusyProcess& operator=(BusyProcess&&) = delete;

  void go_on() const noexcept;
  void stop() const noexcept;

 private:
  pid_t child_;
};

BusyProcess::BusyProcess() : child_(fork()) {
  if (child_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise(SIGSTOP);
    for (;;) asm volatile("");
  }
  waitpid(child_, nullptr, WUNTRACED);
}

BusyProcess::~BusyProcess() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

void BusyProcess::go_on() const noexcept { kill(child_, SIGCONT); }

void BusyProcess::stop() const noexcept {
  kill(child_, SIGSTOP);
  waitpid(child_, nullptr, WUNTRACED);
}

using workloads::Family;

// A made-up machine with so many cpus: nigh pins nobody to those.
nigh::topology crowd(int cpus) {
  auto made = nigh::topology::from_synthetic(fmt::format("numa:1 core:{} pu:1", cpus));
  if (!made) throw std::runtime_error(made.message());
  return std::move(made).value();
}

struct Situation {
  int threads_per_cpu = 1;
  bool busy = false;
};

constexpr Situation situations[] = {{1, false}, {2, false}, {1, true}, {2, true}};

std::vector<Question> questions(TasksOptions const& o) {
  if (o.quick) return {{"fib", "17", 0}};
  return {{"fib", "30", 0}, {"nqueens", "12", 0}, {"uts", "T3", 0}, {"mergesort", "2000000", 0}};
}

Result start_result(Question const& q, Family family, Situation s, TasksOptions const& o) {
  Result r;
  r.bench = "tasks/oversubscribed";
  r.variant = name_of(family);
  r.params = {{"problem", q.problem},
              {"size", q.size},
              {"threads", static_cast<long>(o.threads() * s.threads_per_cpu)},
              {"cpus", static_cast<long>(o.threads())},
              {"busy_processes", static_cast<long>(s.busy)}};
  r.metric = "time";
  r.unit = "s";
  r.verified = true;
  r.absent = why_absent(family);
  return r;
}

}  // namespace

std::vector<Result> measure_oversubscribed(TasksOptions const& o) {
  auto const let_run_anywhere = [&o](int) { return allow_this_thread(o.cpus); };
  BusyProcess const other;
  nigh::topology const made_up = crowd(2 * o.threads());
  workloads::TeamOptions many{&made_up, o.cpus, let_run_anywhere};
  many.cpus.insert(many.cpus.end(), o.cpus.begin(), o.cpus.end());
  Solver usual({&o.machine, o.cpus, pin_this_thread}), crowded(many);

  struct Measured {
    Question question;
    Family family;
    Situation situation;
    Result result;
    int times = 1;
  };
  std::vector<Measured> all;
  for (Question const& q : questions(o))
    for (Family const f : {Family::openmp, Family::tbb, Family::nigh})
      for (Situation const s : situations) all.push_back({q, f, s, start_result(q, f, s, o)});

  nigh::platform::Progress progress((o.repetitions + 1) * static_cast<int>(all.size()));
  for (int repetition = -1; repetition < o.repetitions; ++repetition)  // the first warms up
    for (Measured& m : all) {
      progress.step(m.question.problem + ' ' + m.result.variant);
      if (!m.result.absent.empty()) continue;
      allow_this_thread(o.cpus);
      if (m.situation.busy) other.go_on();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      Solver& solver = m.situation.threads_per_cpu == 1 ? usual : crowded;
      Timed const t =
          solver.solve(m.question, m.family, o.threads() * m.situation.threads_per_cpu, m.times);
      if (m.situation.busy) other.stop();
      m.result.verified = *m.result.verified && t.answer == solver.instance(m.question).expected();
      if (repetition >= 0)
        m.result.samples.push_back(t.seconds);
      else
        m.times = times_for(t.seconds, o.sample_seconds);
    }
  std::vector<Result> results;
  for (Measured& m : all) results.push_back(std::move(m.result));
  return results;
}

std::string describe_oversubscribed(std::vector<Result> const& results, TasksOptions const& o) {
  int const few = o.threads(), many = 2 * few;
  Table t;
  t.row({"", fmt::format("{} threads", few), fmt::format("{}", many), "",
         fmt::format("{} beside", few), "", fmt::format("{} beside", many), ""});
  t.rule();
  for (std::size_t first = 0; first + 3 < results.size(); first += 4) {
    Result const& alone = results[first];
    std::vector<std::string> row{
        fmt::format("{} {} {}", std::get<std::string>(alone.params.at("problem")),
                    std::get<std::string>(alone.params.at("size")), alone.variant)};
    for (std::size_t n = 0; n < 4 && alone.absent.empty(); ++n) {
      double const median = median_of(results[first + n].samples);
      row.push_back(fmt::format("{:.1f} ms", median * 1e3));
      if (n > 0) row.push_back(fmt::format("{:.2f}x", median / median_of(alone.samples)));
    }
    if (!alone.absent.empty()) row.push_back("absent");
    t.row(std::move(row));
  }
  return fmt::format(
             "More threads than cpus: {} cpus, {} repetitions, medians; \"beside\" another process "
             "that\n"
             "computes all the time, and gets its fair share of a cpu\n\n",
             few, o.repetitions) +
         t.text();
}

}  // namespace bench
