// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi3d/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <numeric>

#include "bench/options.hpp"
#include "bench/pin.hpp"

namespace bench {

namespace {

using jacobi3d::Extent;

// "600x10x10", or "600" for a cube.
Extent parse_extent(std::string const& argument, std::string const& text) {
  auto const wrong = [&](char const* what) {
    return UsageError(argument + ": \"" + text + "\" " + what);
  };
  std::vector<std::ptrdiff_t> sides;
  char const* at = text.data();
  char const* const end = at + text.size();
  for (;;) {
    std::ptrdiff_t side = 0;
    auto const [next, error] = std::from_chars(at, end, side);
    if (error == std::errc::result_out_of_range) throw wrong("is too large");
    if (error != std::errc()) throw wrong("is not a size such as 600x10x10");
    sides.push_back(side);
    at = next;
    if (at == end) break;
    if (*at++ != 'x') throw wrong("is not a size such as 600x10x10");
  }
  if (sides.size() == 1) return {sides[0], sides[0], sides[0]};
  if (sides.size() != 3) throw wrong("needs one or three sides, as 600x10x10");
  return {sides[0], sides[1], sides[2]};
}

nigh::topology machine_for(std::string const& cpu_list) {
  nigh::topology live = live_machine();
  if (cpu_list.empty()) return live;
  std::vector<int> const keep = parse_cpu_list("--topology", cpu_list);
  nigh::result<nigh::topology> fewer = live.restricted_to(keep);
  if (!fewer) throw UsageError("--topology: " + fewer.message());
  return std::move(fewer).value();
}

std::uint64_t last_level_cache(nigh::topology_object const& object) {
  std::uint64_t bytes =
      object.type == nigh::topology_object::kind::cache && object.name.starts_with("L3")
          ? object.size_bytes
          : 0;
  for (auto const& child : object.children) bytes = std::max(bytes, last_level_cache(child));
  return bytes;
}

// Huge pages cannot be placed more finely than their size: only where a layer holds many of them.
bool wants_huge_pages(std::string const& pages, Extent const& grid, Extent const& block) {
  if (pages == "small") return false;
  if (pages == "huge") return true;
  if (pages != "auto") refuse("--pages", pages, "is not auto, small or huge");
  constexpr std::uint64_t enough = 8U << 21;
  return Extent{grid.i, grid.j, block.k}.sites() * sizeof(double) >= enough;
}

}  // namespace

std::string extent_text(Extent const& e) { return fmt::format("{}x{}x{}", e.i, e.j, e.k); }

std::unique_ptr<JacobiOptions> check(JacobiFlags const& flags) {
  auto options = std::make_unique<JacobiOptions>(machine_for(flags.topology));
  JacobiOptions& o = *options;

  if (flags.quick) {
    o.grid = {120, 60, 60};
    o.block = {120, 10, 10};
  }
  if (!flags.grid.empty()) {
    o.grid = parse_extent("--grid", flags.grid);
    if (flags.block.empty())  // the paper's shape, as far as it fits
      o.block = {o.grid.i, std::min<std::ptrdiff_t>(10, o.grid.j),
                 std::min<std::ptrdiff_t>(10, o.grid.k)};
  }
  if (!flags.block.empty()) o.block = parse_extent("--block", flags.block);
  if (auto const fits = jacobi3d::check(o.grid, o.block); !fits) throw UsageError(fits.message());

  auto const allowed = o.machine.order(nigh::cpu_order::compact, nigh::level::domain).size();
  o.team.machine = &o.machine;
  o.team.cpus = cpus_for(flags.threads.value_or(static_cast<long>(allowed)), o.machine);
  o.team.pin = pin_this_thread;
  auto const number = [](char const* argument, std::optional<long> given, int otherwise) {
    return static_cast<int>(number_or(argument, given, otherwise, std::numeric_limits<int>::max()));
  };
  o.team.pending_limit =
      static_cast<std::size_t>(number("--pending-limit", flags.pending_limit, 0));
  o.repetitions = number("--repetitions", flags.repetitions, flags.quick ? 3 : 7);
  o.sweeps = number("--sweeps", flags.sweeps, flags.quick ? 2 : 4);
  o.huge_pages = wants_huge_pages(flags.pages, o.grid, o.block);

  if (flags.stores != "streaming" && flags.stores != "plain")
    refuse("--stores", flags.stores, "is not streaming or plain");
  bool const streaming = flags.stores == "streaming";
  auto const* kernel = jacobi3d::find_kernel(flags.isa, streaming);
  if (kernel == nullptr && flags.isa.empty()) kernel = jacobi3d::find_kernel("", false);
  if (kernel == nullptr)
    throw UsageError("--isa: no " + flags.stores + " kernel for \"" + flags.isa + "\" runs here");
  o.kernel = *kernel;

  if (!flags.variant.empty())
    o.variant = &present_variant("--variant", flags.variant, jacobi3d::find_variant(flags.variant));
  auto const init = jacobi3d::init_from_string(flags.init);
  if (!init) refuse("--init", flags.init, "is not static, cyclic or ld0");
  o.init = *init;
  auto const order = jacobi3d::order_from_string(flags.order);
  if (!order) refuse("--order", flags.order, "is not kji, jki or strips");
  o.order = *order;

  // A quarter of the cache: two threads' worth of what is read and of what is in flight fit easily.
  std::uint64_t const cache = last_level_cache(o.machine.root());
  o.strip_cache_bytes = cache > 0 ? cache / 4 : 4U << 20;
  return options;
}

namespace {

using jacobi3d::Box;
using jacobi3d::Init;

// The thread that touches each layer of blocks first. LD0: a thread of the first thread's domain.
std::vector<int> touchers(JacobiOptions const& o, jacobi3d::Blocks const& blocks, Init init) {
  std::vector<int> in_ld0;
  auto const domain_of = [&](int t) {
    return o.machine.domain_of_cpu(o.team.cpus[static_cast<std::size_t>(t)]);
  };
  for (int t = 0; t < o.team.threads(); ++t)
    if (domain_of(t) == domain_of(0)) in_ld0.push_back(t);
  std::vector<int> list;
  for (int layer = 0; layer < blocks.layers(); ++layer)
    list.push_back(init == Init::ld0
                       ? in_ld0[static_cast<std::size_t>(layer) % in_ld0.size()]
                       : first_toucher(init, layer, blocks.layers(), o.team.threads()));
  return list;
}

}  // namespace

Problem::Problem(JacobiOptions const& o, Init init, PinnedThreads& pinned)
    : options_(o),
      pinned_(pinned),
      plan_{jacobi3d::Grid(o.grid), jacobi3d::Blocks(o.grid, o.block), {}, {}},
      toucher_(touchers(o, plan_.blocks, init)) {
  // The second field starts on a page of its own, and half a page off the first one's position
  // within 4 KiB, so that loads from one and stores to the other seldom alias.
  constexpr std::size_t page = 512;
  second_at_ = (elements() + page - 1) / page * page + page / 2 + jacobi3d::Grid::line;
  nigh::array_options how;
  how.machine = &o.machine;
  how.huge_pages = o.huge_pages;
  fields_ = nigh::array<double>(second_at_ + elements(), nigh::placement::first_touch(), how);

  pinned_.run([&](int thread) {
    for (int layer = 0; layer < plan_.blocks.layers(); ++layer) {
      if (toucher_[static_cast<std::size_t>(layer)] != thread) continue;
      Box const box = plan_.blocks.layer_box(layer);
      auto const lo = box.lo.k == 0 ? -1 : box.lo.k;  // the boundary goes with its neighbours
      auto const hi = box.hi.k == o.grid.k ? box.hi.k + 1 : box.hi.k;
      fill_planes(plan_.grid, first(), lo, hi);
      fill_planes(plan_.grid, second(), lo, hi);
    }
  });

  find_homes();
  ran_in_.resize(plan_.home.size());
  submit_in(jacobi3d::Order::kji);
}

// Blocks that lie in the same page share one question to the kernel.
void Problem::find_homes() {
  plan_.home.resize(static_cast<std::size_t>(plan_.blocks.size()));
  home_by_kernel_.resize(plan_.home.size());
  constexpr std::ptrdiff_t page = 512;
  std::ptrdiff_t asked = -1;
  int by_kernel = -1;
  for (int block = 0; block < plan_.blocks.size(); ++block) {
    Box const box = plan_.blocks.box(block);
    auto const at = plan_.grid.at((box.lo.i + box.hi.i) / 2, (box.lo.j + box.hi.j) / 2,
                                  (box.lo.k + box.hi.k) / 2);
    if (at / page != asked) by_kernel = nigh::domain_of(first() + at, options_.machine);
    asked = at / page;
    int const thread = toucher_[static_cast<std::size_t>(plan_.blocks.layer(block))];
    int const by_rule =
        options_.machine.domain_of_cpu(options_.team.cpus[static_cast<std::size_t>(thread)]);
    auto const n = static_cast<std::size_t>(block);
    home_by_kernel_[n] = by_kernel;
    plan_.home[n] = by_kernel >= 0 ? by_kernel : by_rule;
  }
}

void Problem::submit_in(jacobi3d::Order order) {
  plan_.submission = plan_.blocks.submission(
      order, strip_width(plan_.grid, options_.block, options_.strip_cache_bytes));
}

void Problem::refill() {
  pinned_.run([&](int thread) {
    for (int layer = 0; layer < plan_.blocks.layers(); ++layer) {
      if (toucher_[static_cast<std::size_t>(layer)] != thread) continue;
      Box const box = plan_.blocks.layer_box(layer);
      fill_planes(plan_.grid, first(), box.lo.k, box.hi.k);
    }
  });
}

double Problem::run(jacobi3d::Variant& variant, jacobi3d::Kernel const& kernel, int sweeps,
                    bool count, std::int16_t* wrote_in) {
  jacobi3d::Sweep sweep;
  sweep.plan = &plan_;
  sweep.kernel = &kernel;
  sweep.machine = &options_.machine;
  sweep.ran_in = count ? ran_in_.data() : nullptr;
  blocks_run_ = {};
  double* from = first();
  double* to = second();
  auto const start = std::chrono::steady_clock::now();
  for (int done = 0; done < sweeps; done += sweep.steps) {
    sweep.steps = std::min(variant.most_steps(), sweeps - done);
    sweep.from = from;
    sweep.to = to;
    if (wrote_in != nullptr) sweep.wrote_in = wrote_in + done * options_.grid.k;
    variant.sweep(sweep);
    if (count) count_blocks();
    if (!variant.ends_in_place(sweep.steps)) std::swap(from, to);
  }
  result_ = from;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Problem::count_blocks() {
  for (std::size_t block = 0; block < ran_in_.size(); ++block)
    ++(home_by_kernel_[block] < 0                 ? blocks_run_.unknown
       : home_by_kernel_[block] == ran_in_[block] ? blocks_run_.local
                                                  : blocks_run_.remote);
}

void Problem::run_reference(int sweeps) {
  double* from = first();
  double* to = second();
  for (int n = 0; n < sweeps; ++n) {
    pinned_.run([&](int thread) {
      for (int layer = thread; layer < plan_.blocks.layers(); layer += pinned_.size()) {
        Box const box = plan_.blocks.layer_box(layer);
        reference_sweep(plan_.grid, from, to, box.lo.k, box.hi.k);
      }
    });
    std::swap(from, to);
  }
  result_ = from;
}

std::uint64_t Problem::checksum() {
  std::vector<std::uint64_t> parts(static_cast<std::size_t>(pinned_.size()));
  pinned_.run([&](int thread) {
    std::uint64_t sum = 0;
    for (int layer = thread; layer < plan_.blocks.layers(); layer += pinned_.size()) {
      Box const box = plan_.blocks.layer_box(layer);
      sum += checksum_planes(plan_.grid, result_, box.lo.k, box.hi.k);
    }
    parts[static_cast<std::size_t>(thread)] = sum;
  });
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
}

}  // namespace bench
