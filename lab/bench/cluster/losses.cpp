// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/losses.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

constexpr double window_seconds = 0.1;

struct Event {
  double at;
  int rank;
  std::string what;
  long number, wrong, again;
};

std::vector<Event> events_of(std::string const& text) {
  std::vector<Event> events;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Event e{};
    if (!(words >> e.at >> e.rank >> e.what))
      throw std::runtime_error("not an event of cluster-losses: " + line);
    words >> e.number >> e.wrong >> e.again;
    events.push_back(std::move(e));
  }
  std::ranges::stable_sort(events, {}, &Event::at);
  return events;
}

// Each rank tells from time to time how much it has done; between two such times it is taken to
// have been equally fast.
std::vector<double> rates_of(std::vector<Event> const& events, double begin, double end) {
  std::vector<double> done(static_cast<std::size_t>((end - begin) / window_seconds) + 1);
  std::map<int, std::pair<double, long>> last;
  for (Event const& e : events) {
    if (e.what != "done") continue;
    auto const [from, before] = last.try_emplace(e.rank, begin, 0).first->second;
    last[e.rank] = {e.at, e.number};
    double const rate = static_cast<double>(e.number - before) / std::max(1e-9, e.at - from);
    for (std::size_t w = 0; w < done.size(); ++w) {
      double const opens = begin + static_cast<double>(w) * window_seconds;
      done[w] +=
          rate * std::max(0.0, std::min(e.at, opens + window_seconds) - std::max(from, opens));
    }
  }
  done.pop_back();  // not a whole window
  for (double& v : done) v /= window_seconds;
  return done;
}

// A loss counts as noticed when a rank knows of one more than had been lost before.
Kill kill_from(std::vector<Event> const& events, Event const& death, long nth, int left,
               double begin) {
  Kill kill{death.rank, death.at - begin, {}, {}, {}};
  int know = 0;
  for (Event const& e : events) {
    if (e.at < death.at) continue;
    if (e.what == "killed" && &e != &death) break;  // what follows may be due to the next loss
    if (e.what == "lost" && e.number >= nth) {
      if (++know == 1) kill.noticed = e.at - death.at;
      if (know == left) kill.noticed_by_all = e.at - death.at;
    }
    if (e.what == "again" && kill.noticed && !kill.begun_again) kill.begun_again = e.at - death.at;
  }
  return kill;
}

}  // namespace

LossJob read_events(std::string const& text, int ranks, std::vector<int> const& victims) {
  LossJob job;
  auto const events = events_of(text);
  auto const first = std::ranges::find(events, "begins", &Event::what);
  if (first == events.end()) {
    job.complaints.emplace_back("no rank began");
    return job;
  }
  double const begin = first->at;
  long died = 0;
  std::map<int, Event> ends;
  std::map<int, long> done;
  for (Event const& e : events) {
    if (e.what == "done") done[e.rank] = e.number;
    if (e.what == "killed") {
      ++died;
      job.kills.push_back(kill_from(events, e, died, ranks - static_cast<int>(died), begin));
    }
    if (e.what == "ends") ends.emplace(e.rank, e);
  }
  if (died != static_cast<long>(victims.size()))
    job.complaints.push_back(fmt::format("{} of {} ranks were killed", died, victims.size()));
  for (int rank = 0; rank < ranks; ++rank) {
    if (std::ranges::count(victims, rank) > 0) continue;
    auto const end = ends.find(rank);
    if (end == ends.end()) {
      job.complaints.push_back(fmt::format("rank {} did not end", rank));
      continue;
    }
    job.seconds = std::max(job.seconds, end->second.at - begin);
    job.solved = std::max(job.solved, static_cast<int>(end->second.number));
    job.wrong = std::max(job.wrong, static_cast<int>(end->second.wrong));
    job.run_again += end->second.again;
  }
  if (job.wrong > 0) job.complaints.push_back(fmt::format("{} answers are wrong", job.wrong));
  if (job.solved == 0) job.complaints.emplace_back("nothing was solved");
  for (auto const& [rank, sum] : done) job.done += static_cast<double>(sum);
  job.rates = rates_of(events, begin, begin + job.seconds);
  return job;
}

namespace {

// All ranks but two in some order, with rank 0 among them in all jobs but each second.
std::vector<int> victims_of(LossOptions const& o, unsigned seed) {
  std::mt19937 dice(seed);
  std::vector<int> ranks;
  for (int r = static_cast<int>(seed % 2); r < o.ranks; ++r) ranks.push_back(r);
  for (std::size_t n = ranks.size(); n > 1; --n) std::swap(ranks[n - 1], ranks[dice() % n]);
  if (seed % 2 == 0) std::iter_swap(ranks.begin(), std::ranges::find(ranks, 0));
  ranks.resize(static_cast<std::size_t>(o.ranks - 2));
  return ranks;
}

double seconds_of(LossOptions const& o) { return o.kill_every * (o.ranks - 1); }

LossJob run_job(LossOptions const& o, std::vector<int> const& victims) {
  namespace fs = std::filesystem;
  auto const file = fs::temp_directory_path() / fmt::format("nigh-losses-{}", getpid());
  fs::remove(file);
  std::string kills;
  for (std::size_t n = 0; n < victims.size(); ++n)
    kills += fmt::format("{}{}@{}", n > 0 ? "," : "", victims[n],
                         o.kill_every * static_cast<double>(n + 1));
  std::vector<std::string> words{"--problem", o.problem.text(),
                                 "--seconds", fmt::format("{}", seconds_of(o)),
                                 "--events",  file.string()};
  if (!kills.empty()) words.insert(words.end(), {"--kills", kills});
  auto const ended = run_together({o.launcher.command("cluster-losses", words, o.ranks)},
                                  120 + 10 * seconds_of(o))[0];
  std::ifstream in(file);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  fs::remove(file);
  if (text.empty()) throw std::runtime_error("cluster-losses: " + complaint_of(ended));
  auto job = read_events(text, o.ranks, victims);
  if (ended.status != 0)
    job.complaints.push_back(
        fmt::format("the launcher's status was {}: {}", ended.status, complaint_of(ended)));
  return job;
}

}  // namespace

LossStudy study(LossOptions const& o) {
  LossStudy s;
  nigh::platform::Progress progress(1 + o.repetitions);
  progress.step("without a loss");
  s.whole = run_job(o, {});
  for (int n = 0; n < o.repetitions; ++n) {
    progress.step(fmt::format("job {} with losses", n + 1));
    s.jobs.push_back(run_job(o, victims_of(o, static_cast<unsigned>(n))));
  }
  return s;
}

namespace {

struct Delay {
  char const *name, *text;
  std::optional<double> Kill::* value;
};
constexpr Delay delays[] = {{"noticed", "one rank knows", &Kill::noticed},
                            {"noticed-by-all", "all ranks know", &Kill::noticed_by_all},
                            {"begun-again", "a lost task begins", &Kill::begun_again}};

std::vector<double> samples_of(LossStudy const& s, Delay const& d) {
  std::vector<double> all;
  for (LossJob const& job : s.jobs)
    for (Kill const& kill : job.kills)
      if (auto const v = kill.*d.value) all.push_back(*v);
  return all;
}

// Without that of lost ranks and of tasks that ran twice.
double useful(LossJob const& job, LossOptions const& o) { return o.problem.work() * job.solved; }

double per_second(double work, LossJob const& job) {
  return job.seconds > 0 ? work / job.seconds : 0;
}

// The rest, as a part of that.
double done_in_vain(LossJob const& job, LossOptions const& o) {
  return job.solved > 0 ? job.done / useful(job, o) - 1 : 0;
}

// How fast ranks were, in vain or not, beside those of which none is lost.
double speed(LossJob const& job, LossJob const& whole) {
  return whole.done > 0 ? per_second(job.done, job) / per_second(whole.done, whole) : 0;
}

std::vector<std::string> row_of(std::string const& name, LossJob const& job, LossJob const& whole,
                                LossOptions const& o) {
  std::string victims;
  for (Kill const& k : job.kills)
    victims += fmt::format("{}{}", victims.empty() ? "" : ",", k.rank);
  return {name,
          victims,
          std::to_string(job.solved),
          std::to_string(job.wrong),
          std::to_string(job.run_again),
          fmt::format("{:.1f}", job.seconds),
          fmt::format("{:.2f}", per_second(useful(job, o), job) * 1e-6),
          fmt::format("{:.1f}%", 100 * done_in_vain(job, o)),
          fmt::format("{:.2f}", speed(job, whole))};
}

}  // namespace

std::string describe(LossStudy const& s, LossOptions const& o) {
  Table delay_table;
  delay_table.row({"ms after SIGKILL", "median", "min", "max", "samples"});
  delay_table.rule();
  for (Delay const& d : delays) {
    auto const samples = samples_of(s, d);
    auto const of = statistics_of(samples);
    delay_table.row({d.text, fmt::format("{:.1f}", of.median * 1e3),
                     fmt::format("{:.1f}", of.min * 1e3), fmt::format("{:.1f}", of.max * 1e3),
                     std::to_string(samples.size())});
  }
  Table jobs;
  jobs.row({"job", "killed", "solved", "wrong", "run again", "s",
            fmt::format("M {}/s", o.problem.unit()), "in vain", "speed"});
  jobs.rule();
  jobs.row(row_of("whole", s.whole, s.whole, o));
  std::string complaints;
  auto const complain = [&](LossJob const& job, std::string const& name) {
    for (auto const& c : job.complaints) complaints += fmt::format("{}: {}\n", name, c);
  };
  complain(s.whole, "whole");
  for (std::size_t n = 0; n < s.jobs.size(); ++n) {
    jobs.row(row_of(std::to_string(n + 1), s.jobs[n], s.whole, o));
    complain(s.jobs[n], std::to_string(n + 1));
  }
  return fmt::format(
      "{} again and again on {} ranks of one worker, started by {};\na rank is killed each {} s "
      "until two are left\n\n{}\n{}\n"
      "speed: of all ranks, with what they did in vain, beside the job without losses\n{}",
      o.problem.text(), o.ranks, o.launcher.text(), o.kill_every, delay_table.text(), jobs.text(),
      complaints);
}

std::vector<Result> results(LossStudy const& s, LossOptions const& o) {
  std::vector<Result> all;
  Result base;
  base.params = {{"problem", o.problem.name},           {"size", o.problem.size},
                 {"ranks", static_cast<long>(o.ranks)}, {"workers", 1L},
                 {"kill_every_s", o.kill_every},        {"mpi", o.launcher.mpi()},
                 {"launcher", o.launcher.text()}};
  for (Delay const& d : delays) {
    Result r = base;
    r.bench = "cluster/losses";
    r.variant = std::string("nigh/") + d.name;
    r.metric = "time";
    r.unit = "s";
    r.samples = samples_of(s, d);
    if (r.samples.empty()) r.absent = "no rank told";
    all.push_back(std::move(r));
  }
  auto const add_job = [&](LossJob const& job, std::string const& name) {
    Result r = base;
    r.bench = "cluster/losses-rate";
    r.variant = "nigh/" + name;
    r.metric = "rate";
    r.unit = fmt::format("{}/s", o.problem.unit());
    r.samples = job.rates;
    r.verified = job.complaints.empty();
    r.params["window_s"] = window_seconds;
    std::vector<std::string> times, ranks;
    for (Kill const& k : job.kills) {
      times.push_back(fmt::format("{:.3f}", k.at));
      ranks.push_back(std::to_string(k.rank));
    }
    r.params["killed"] = fmt::format("{}", fmt::join(ranks, ","));
    r.params["killed_at_s"] = fmt::format("{}", fmt::join(times, ","));
    r.counters = {{"solved", static_cast<long>(job.solved)},
                  {"wrong", static_cast<long>(job.wrong)},
                  {"tasks_run_again", job.run_again},
                  {"seconds", job.seconds},
                  {"useful_rate", per_second(useful(job, o), job)},
                  {"in_vain", done_in_vain(job, o)},
                  {"speed", speed(job, s.whole)}};
    if (r.samples.empty()) r.absent = "no rank told";
    all.push_back(std::move(r));
  };
  add_job(s.whole, "whole");
  for (std::size_t n = 0; n < s.jobs.size(); ++n)
    add_job(s.jobs[n], "job-" + std::to_string(n + 1));
  return all;
}

}  // namespace bench
