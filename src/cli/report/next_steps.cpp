// SPDX-License-Identifier: Apache-2.0
#include "cli/report/next_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/run/launch_plan.hpp"

namespace nigh::cli {
namespace {

// A step and the share of the time that it may save.
struct Promise {
  double gain = 0;
  Step step;
};

std::string threads_text(int n) { return fmt::format("{} {}", n, n == 1 ? "thread" : "threads"); }

std::string named(std::string text) { return text.empty() ? "a region" : text; }

class Steps {
 public:
  explicit Steps(Measured const& m) : m_(m), program_(as_shell_words(m.words)) {}

  std::vector<Step> all() {
    if (m_.study) {
      fewer_threads();
      tasks_run_by_nigh();
      regions_that_do_not_scale();
      time_outside();
    }
    idle_cpus();
    moving_threads();
    pages_elsewhere();
    tasks();
    std::stable_sort(promises_.begin(), promises_.end(),
                     [](auto const& a, auto const& b) { return a.gain > b.gain; });
    std::vector<Step> steps;
    for (auto const& f : m_.findings)
      if (f.id == disturbance) steps.push_back(of(f));
    for (auto& p : promises_) steps.push_back(std::move(p.step));
    for (auto const& f : m_.findings)
      if (f.id != disturbance && !is_without_gain(f.id)) steps.push_back(of(f));
    if (m_.configurations > 1 && !m_.words.empty())
      steps.push_back(
          {fmt::format("Measure the {} configurations that nigh tune knows for it",
                       m_.configurations),
           "It runs the program with other numbers of threads, bindings, memory policies "
           "and schedules, and writes the best as a profile for nigh run.",
           "nigh tune -- " + program_});
    return steps;
  }

 private:
  // Where others disturb, all measurements are doubtful.
  static constexpr std::string_view disturbance = "oversubscription";
  // Good to know, but no program gets faster by it.
  static bool is_without_gain(std::string_view id) {
    return id == "one-domain" || id == "virtual-machine" || id == "no-hardware-counters";
  }
  static Step of(Finding const& f) { return {f.what, f.why + ' ' + f.what_to_do, ""}; }

  static constexpr double worth_it = 0.05;  // of the time

  void add(double gain, Step step) { promises_.push_back({gain, std::move(step)}); }

  WholeRun const* with_most_threads() const {
    auto const& runs = m_.study->whole;
    auto const largest = std::max_element(
        runs.begin(), runs.end(), [](auto const& a, auto const& b) { return a.team < b.team; });
    return largest == runs.end() ? nullptr : &*largest;
  }

  void fewer_threads() {
    WholeRun const* const largest = with_most_threads();
    WholeRun const* best = largest;
    for (auto const& run : m_.study->whole)
      if (median_of(run.seconds) < median_of(best->seconds)) best = &run;
    if (best == largest) return;
    auto const few = median_of(best->seconds), many = median_of(largest->seconds);
    auto const gain = 1 - few / many;
    if (gain < worth_it) return;
    add(gain,
        {"Run it with " + threads_text(best->team),
         fmt::format("It took {:.3g} s with {} and {:.3g} s with {}: more threads make it slower.",
                     few, best->team, many, largest->team),
         fmt::format("nigh run --threads {} -- {}", best->team, program_)});
  }

  void regions_that_do_not_scale() {
    int said = 0;
    constexpr int most = 3;
    for (auto const& program : m_.study->programs)
      for (auto const& region : program.regions) {
        if (!region.demand || region.teams.size() < 2 || region.share < worth_it || said == most)
          continue;
        auto const& last = region.teams.back();
        auto const speedup = region.speedup(last);
        auto const ideal = static_cast<double>(last.threads);
        if (speedup > 0.8 * ideal) continue;
        ++said;
        // The time that would be saved if it scaled well.
        auto const gain = region.share / std::max(speedup, 0.1) * (1 - speedup / ideal);
        add(gain,
            {speedup >= 1
                 ? fmt::format("Look at {}: {:.1f} times as fast on {} threads as on one",
                               named(short_name(region.code)), speedup, last.threads)
                 : fmt::format("Look at {}: it takes {:.1f} times as long on {} threads as on one",
                               named(short_name(region.code)), 1 / std::max(speedup, 1e-3),
                               last.threads),
             fmt::format(
                 "It takes {:.0f}% of the time with {}. It uses {} well, and no more than {} "
                 "save 3% of its time. Kept in its profile, that lets other programs have the cpus "
                 "that it cannot use.",
                 100 * region.share, threads_text(region.teams.front().threads),
                 threads_text(region.demand->optimal), region.demand->maximum),
             "nigh profile --keep -- " + program_});
      }
  }

  void time_outside() {
    double inside = 0;
    for (auto const& program : m_.study->programs)
      for (auto const& region : program.regions) inside += region.share;
    if (m_.study->programs.empty() || inside > 0.7 || m_.cpus < 2) return;
    auto const outside = 1 - inside;
    add(outside * (1 - 1.0 / m_.cpus) * 0.5,
        {fmt::format("Find the {:.0f}% of the time outside parallel regions", 100 * outside),
         fmt::format(
             "With any number of threads that part stays as it is: {} cpus cannot make the program "
             "more than {:.1f} times as fast.",
             m_.cpus, 1 / (outside + inside / m_.cpus)),
         "perf record -g -- " + program_ + " && perf report"});
  }

  void idle_cpus() {
    bool const is_disturbed = std::any_of(m_.findings.begin(), m_.findings.end(),
                                          [](auto const& f) { return f.id == disturbance; });
    if (m_.seconds <= 0 || m_.cpus < 2 || is_disturbed) return;  // it may have waited for its cpus
    auto const busy = m_.cpu_seconds / m_.seconds;
    if (busy > 0.6 * m_.cpus) return;
    add(0.02,
        {fmt::format("{:.1f} of {} cpus worked on average", busy, m_.cpus),
         "The other cpus can do something else meanwhile: nigh run gives each program the cpus "
         "that it uses.",
         "nigh run -- " + program_ + " & nigh top"});
  }

  void moving_threads() {
    auto const rate = m_.seconds > 0 ? static_cast<double>(m_.migrations) / m_.seconds : 0;
    if (rate < 10) return;
    add(std::min(0.3, rate / 1000),
        {fmt::format("Keep its threads where they are: they moved {:.0f} times a second", rate),
         "A thread that moves leaves what it has in its caches behind, and in another domain its "
         "memory, "
         "too.",
         "nigh run --bind compact -- " + program_});
  }

  void pages_elsewhere() {
    if (m_.domains < 2 || m_.remote_pages < 0.2) return;
    add(m_.remote_pages / 3,
        {fmt::format("{:.0f}% of its pages lay outside the domain where it worked most",
                     100 * m_.remote_pages),
         "If threads of one domain use memory of another, each access takes longer. Spread over "
         "all domains, "
         "no memory is the bottleneck.",
         "nigh run --bind compact --mem interleave -- " + program_});
  }

  // Beside other runs without input, as that one was.
  void tasks_run_by_nigh() {
    auto const* const plain = with_most_threads();
    if (m_.seconds_with_our_tasks <= 0 || plain == nullptr) return;
    auto const seconds = median_of(plain->seconds);
    auto const gain = 1 - m_.seconds_with_our_tasks / seconds;
    if (gain < worth_it) return;
    add(gain,
        {"Let nigh run its OpenMP tasks",
         fmt::format("Run by nigh it took {:.3g} s, once, the writing of a trace included. By its "
                     "own OpenMP runtime it took {:.3g} s with {}.",
                     m_.seconds_with_our_tasks, seconds, threads_text(plain->team)),
         "nigh run --tasks prefer -- " + program_});
  }

  void tasks() {
    constexpr double short_ns = 1000;
    if (m_.tasks > 0 && m_.mean_task_ns < short_ns)
      add(0.25, {fmt::format("Make its tasks larger: they take {:.0f} ns each", m_.mean_task_ns),
                 "Making and taking a task costs about as much. Below some size, call the function "
                 "instead (a cutoff).",
                 "nigh trace --tasks prefer -- " + program_});
    if (m_.steals > 100 && 2 * m_.far_steals > m_.steals)
      add(0.1, {fmt::format("{} of {} steals crossed domains", m_.far_steals, m_.steals),
                "Tasks that say what they work on run near it.",
                "nigh trace --tasks prefer -- " + program_});
  }

  Measured const& m_;
  std::string program_;
  std::vector<Promise> promises_;
};

}  // namespace

std::vector<Step> next_steps(Measured const& m) { return Steps(m).all(); }

}  // namespace nigh::cli
