// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi3d/options.hpp"

#include <charconv>
#include <limits>

#include "bench/command.hpp"
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

}  // namespace bench
