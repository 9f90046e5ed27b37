// SPDX-License-Identifier: Apache-2.0
#include "cli/run/whereabouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/printable.hpp"
#include "cli/topo.hpp"

namespace nigh::cli {
namespace {

std::uint64_t sum(std::map<int, std::uint64_t> const& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t all, auto const& part) { return all + part.second; });
}

// "cpu 0 87%, cpu 1 13%", the largest first, without those below one percent.
std::string shares(std::map<int, std::uint64_t> const& busy_on) {
  std::vector<std::pair<std::uint64_t, int>> parts;
  for (auto const& [cpu, ns] : busy_on) parts.emplace_back(ns, cpu);
  std::sort(parts.begin(), parts.end(), [](auto const& a, auto const& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  auto const all = std::max<std::uint64_t>(sum(busy_on), 1);
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t shown = 0;
  for (auto const& [ns, cpu] : parts) {
    auto const percent = 100.0 * static_cast<double>(ns) / static_cast<double>(all);
    if (shown > 0 && percent < 1) break;
    if (shown++ == most) return text + ", ...";
    text += fmt::format("{}cpu {} {:.0f}%", text.empty() ? "" : ", ", cpu, percent);
  }
  return text;
}

void add_threads(std::string& text, Whereabouts const& seen, std::size_t most) {
  auto threads = seen.threads();
  std::stable_sort(threads.begin(), threads.end(),
                   [](auto const& a, auto const& b) { return a.busy_ns > b.busy_ns; });
  auto const shown = std::min(threads.size(), most);
  threads.resize(shown);
  std::stable_sort(threads.begin(), threads.end(), [](auto const& a, auto const& b) {
    return std::pair(a.process, a.number) < std::pair(b.process, b.number);
  });
  text += fmt::format("{:<24}{:>10}  {:>10}  {}\n", "thread", "cpu time", "migrations", "where");
  for (auto const& t : threads)
    text += fmt::format("{:<24}{:>8.2f} s  {:>10}  {}\n", fmt::format("{} {}", t.name, t.number),
                        static_cast<double>(t.busy_ns) * 1e-9, t.migrations, shares(t.busy_on));
  if (seen.threads().size() > shown)
    text += fmt::format("... and {} threads that ran less\n", seen.threads().size() - shown);
}

}  // namespace

Whereabouts::Thread& Whereabouts::thread(platform::ThreadSample const& sample) {
  auto const [at, fresh] = index_.try_emplace({sample.process, sample.thread}, threads_.size());
  if (fresh) threads_.push_back({sample.process, sample.thread, {}, 0, {}, 0, -1});
  return threads_[at->second];
}

void Whereabouts::add(std::vector<platform::ThreadSample> const& sample) {
  if (!sample.empty()) ++samples_;
  for (auto const& s : sample) {
    auto& t = thread(s);
    t.name = base::printable(s.name);  // a program may name its threads at any time
    if (s.busy_ns > t.busy_ns) t.busy_on[s.cpu] += s.busy_ns - t.busy_ns;
    t.busy_ns = std::max(t.busy_ns, s.busy_ns);
    if (s.migrations) {
      t.migrations = *s.migrations;
      kernel_counts_ = true;
    } else if (t.last_cpu >= 0 && t.last_cpu != s.cpu) {
      ++t.migrations;
    }
    t.last_cpu = s.cpu;
  }
}

void Whereabouts::add_pages(std::map<int, std::uint64_t> bytes_by_node) {
  if (sum(bytes_by_node) > sum(pages_)) pages_ = std::move(bytes_by_node);
}

std::string report(Whereabouts const& seen, topology const& machine, double seconds,
                   double cpu_seconds) {
  auto text = fmt::format("ran {:.2f} s, used {:.2f} s of cpu time\n", seconds, cpu_seconds);
  if (seen.samples() == 0) return text + "it ended before anybody looked where it ran\n";
  constexpr std::size_t most_threads = 32;
  add_threads(text, seen, most_threads);
  text += fmt::format("{} samples; migrations {}\n", seen.samples(),
                      seen.kernel_counts_migrations()
                          ? "as the kernel counted them until the last one"
                          : "seen between two of them, so there were at least as many");
  constexpr std::size_t few = 5;
  constexpr double short_run = 0.5;  // s: there were no more looks to take
  if (seen.samples() < few && seconds > short_run)
    text += "(these are few: threads and pages may have been missed)\n";
  auto const all = sum(seen.pages());
  if (all == 0) return text + "pages: not available here\n";
  for (auto const& [node, bytes] : seen.pages()) {
    auto const d = machine.domain_of_os_node(node);
    text += fmt::format(
        "{:<24}{:>10}  {:>9.1f}%\n",
        d >= 0 ? fmt::format("pages in domain {}", d) : fmt::format("pages on node {}", node),
        size_text(bytes), 100.0 * static_cast<double>(bytes) / static_cast<double>(all));
  }
  return text;
}

}  // namespace nigh::cli
