// SPDX-License-Identifier: Apache-2.0
#include "cluster/joining.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/clock.hpp"
#include "base/verbose.hpp"
#include "cluster/clocks.hpp"
#include "cluster/functions.hpp"
#include "platform/process_identity.hpp"
#include "platform/program.hpp"
#include "trace/rank.hpp"

namespace nigh::cluster {
namespace {

using base::now_ns;

// A rank that asks for more workers than its share has cpus gets them on cpus that it shares.
runtime_options on_its_cpus(runtime_options options, Layout const& layout) {
  auto const& given = layout.places[static_cast<std::size_t>(layout.self)].cpus;
  if (!options.cpus.empty()) return options;
  auto share = share_of_cpus(layout);
  auto const wanted = static_cast<std::size_t>(std::max(options.workers, 0));
  if (wanted > share.size() && wanted <= given.size()) {
    auto const first = std::find(given.begin(), given.end(), share.front()) - given.begin();
    share = given;
    std::rotate(share.begin(), share.begin() + first, share.end());
  }
  options.cpus = share;
  return options;
}

// Collective, and before any runtime is recorded.
void tell_traces(Transport& network, Layout const& layout, runtime_options const& options) {
  auto const is_recorded = static_cast<std::byte>(!options.trace_file.empty());
  auto const all = network.gather(std::span(&is_recorded, 1));
  if (std::none_of(all.begin(), all.end(), [](bytes const& b) { return b[0] != std::byte{0}; }))
    return;
  auto const& first = layout.places.front();
  bool const have_one_clock = std::all_of(layout.places.begin(), layout.places.end(),
                                          [&](Place const& p) { return p.kernel == first.kernel; });
  auto const clock = have_one_clock ? ClockOffset{} : compare_clocks(network, now_ns);
  trace::set_rank({layout.self, network.ranks(),
                   layout.places[static_cast<std::size_t>(layout.self)].host, clock.to_rank_0_ns,
                   clock.error_ns});
}

}  // namespace

runtime_options workers_of(session_options const& options, Transport& network,
                           Layout const& layout) {
  tell_traces(network, layout, options.workers);
  return on_its_cpus(options.workers, layout);
}

std::unique_ptr<Watch> watch_over(Transport& network) {
  auto const exchange = [&](byte_view mine) {
    bytes all;
    for (auto const& one : network.gather(mine)) all.insert(all.end(), one.begin(), one.end());
    return all;
  };
  auto watch = Watch::start(network.rank(), network.ranks(), exchange);
  if (watch) return std::move(*watch);
  if (network.rank() == 0) std::fprintf(stderr, "nigh: %s\n", watch.message().c_str());
  network.finish();
  std::exit(2);
}

bool supervises(session_options const& options, Transport const& network) {
  if (!options.supervised || network.ranks() == 1) return false;
  std::string why;
  if (has_free_tasks())
    why = "some are spawned free";
  else if (!network.survivors_go_on())
    why = network.why_all_end();
  else if (network.is_funneled())
    why = "MPI runs with MPI_THREAD_FUNNELED";
  if (!why.empty() && network.rank() == 0)
    std::fprintf(stderr, "nigh: tasks are not supervised, since %s (%s): a lost rank ends all\n",
                 why.c_str(), network.name().c_str());
  return why.empty();
}

std::int64_t agree_on_silence(Transport& network) {
  auto const mine = silence_of_environment();
  auto const first = network.gather(std::as_bytes(std::span(&mine, 1))).front();
  Time silence_us = 0;
  std::memcpy(&silence_us, first.data(), sizeof silence_us);
  if (silence_us >= 0) return silence_us * 1000;
  if (network.rank() == 0) std::fprintf(stderr, "nigh: %s\n", bad_silence);
  network.finish();
  std::exit(2);
}

std::vector<RankProcess> processes_of_this_host(Transport& network, Layout const& layout) {
  struct Process {
    std::uint64_t space;
    std::int64_t pid;
  };
  Process const mine{platform::pid_namespace(), platform::process_id()};
  auto const all = network.gather(std::as_bytes(std::span(&mine, 1)));
  auto const& here = layout.places[static_cast<std::size_t>(layout.self)];
  std::vector<RankProcess> found;
  for (std::size_t r = 0; r < all.size(); ++r) {
    Process other{};
    std::memcpy(&other, all[r].data(), sizeof other);
    if (static_cast<int>(r) != layout.self && mine.space != 0 && other.space == mine.space &&
        layout.places[r].kernel == here.kernel && layout.places[r].host == here.host)
      found.push_back({static_cast<int>(r), static_cast<int>(other.pid)});
  }
  return found;
}

EnginePolicies policies_of(session_options const& options, bool is_supervised,
                           std::int64_t silence_ns) {
  EnginePolicies p;
  p.victims = options.victims;
  p.chunks = options.chunks;
  p.fixed_chunk = options.fixed_chunk;
  p.has_free_tasks = has_free_tasks();
  p.has_lifelines = options.lifelines;
  p.supervised = is_supervised;
  p.silence_ns = silence_ns;
  p.spares = options.spares;
  return p;
}

void tell_of_crowd(Layout const& layout) {
  if (layout.self != 0 || !base::is_verbose()) return;
  if (auto const note = crowd_in(layout); !note.empty())
    std::fprintf(stderr, "nigh: cluster: %s\n", note.c_str());
}

}  // namespace nigh::cluster
