// SPDX-License-Identifier: Apache-2.0
#include "cli/run/watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "cli/commands.hpp"
#include "cli/run/whereabouts.hpp"
#include "platform/process_usage.hpp"
#include "platform/size_signal.hpp"

namespace nigh::cli {
using std::chrono::nanoseconds;

nanoseconds Watch::look(int pid) {
  auto const begin = Clock::now();
  if (begin >= next_tree_) look_for_processes(pid);
  if (begin >= next_pages_) look_at_pages();
  auto const before_threads = Clock::now();
  std::vector<platform::ThreadSample> threads;
  for (int const process : tree_)
    for (auto& t : platform::threads_of(process)) threads.push_back(std::move(t));
  seen_.add(threads);
  if (listener_.threads) listener_.threads(seconds_at(before_threads), threads);
  constexpr nanoseconds least = std::chrono::milliseconds(10), most = std::chrono::seconds(1);
  return std::max<nanoseconds>(
      pause_after(Clock::now() - before_threads),
      std::clamp<nanoseconds>((begin - start_) / listener_.looks_a_lap, least, most));
}

nanoseconds Watch::pause_after(nanoseconds cost) const {
  return std::min<nanoseconds>(100 * cost, std::max<nanoseconds>(10 * cost, Clock::now() - start_));
}

void Watch::look_for_processes(int pid) {
  auto const begin = Clock::now();
  tree_ = platform::process_tree(pid);
  if (listener_.processes) listener_.processes(tree_);
  next_tree_ = Clock::now() + pause_after(Clock::now() - begin);
}

void Watch::look_at_pages() {
  auto const begin = Clock::now();
  std::map<int, std::uint64_t> bytes;
  for (int const process : tree_)
    if (auto const some = platform::bytes_by_node(process))
      for (auto const& [node, b] : *some) bytes[node] += b;
  if (listener_.pages) listener_.pages(seconds_at(begin), bytes);
  seen_.add_pages(std::move(bytes));
  constexpr nanoseconds least = std::chrono::milliseconds(50);
  auto const cost = Clock::now() - begin;
  next_pages_ = Clock::now() + std::max<nanoseconds>({pause_after(cost), (begin - start_) / 10, least});
}

void run_watched(platform::Launch const& launch, topology const& machine,
                 platform::Complain const& say) {
  Watch watch;
  auto const ending =
      platform::run_supervised(launch, {say, [&watch](int pid) { return watch.look(pid); }});
  if (!ending) throw std::runtime_error("run: " + ending.message());
  if (ending->not_started) {
    say(ending->not_started->message);
    throw ExitStatus{ending->not_started->status};
  }
  // Even where standard error is closed or full, the program's status matters: nothing throws here.
  auto const text = report(watch.seen(), machine, ending->seconds, ending->cpu_seconds);
  {
    platform::NoSizeSignal const here;
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
  if (ending->signal > 0) platform::die_of(ending->signal);
  throw ExitStatus{ending->status};
}

}  // namespace nigh::cli
