// SPDX-License-Identifier: Apache-2.0
// Any text for the reader of machines' files, and of a machine that it takes, what tools ask of
// one; a small recorded run is played on it.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/entry.hpp"
#include "sim/machine.hpp"
#include "sim/replay/replay.hpp"

namespace {

using namespace nigh::sim;

RecordedRun const& small_run() {
  static RecordedRun const run = [] {
    RecordedRun r;
    r.program = "fuzz";
    r.workers = 2;
    r.seconds = 4e-3;
    for (int i = 0; i < 8; ++i)
      r.pieces.push_back({.seconds = 1e-3, .phase = i / 4, .near = i % 2, .bytes = 1e6});
    r.pauses = {1e-5};
    return r;
  }();
  return run;
}

void ask_everything(Machine const& machine) {
  int const domains = machine.links.domains();
  fuzz::require(domains == static_cast<int>(machine.shape.domains().size()),
                "links have its domains");
  for (int a = 0; a < machine.shape.cpu_domains(); ++a)
    for (int b = 0; b < domains; ++b)
      fuzz::require(machine.slowdown(a, b) >= 1, "far memory is not nearer");
  for (auto const& [name, number] : machine.numbers())
    fuzz::require(number.value >= 0, "numbers are not negative");
  auto const cpus = machine.shape.cpus().size();
  if (cpus <= 256) static_cast<void>(machine.core_map());
  int const workers = std::min(machine.shape.cores(), 8);
  auto const outcome = replay(small_run(), {machine, machine, workers}, replay_policies()[0], 1);
  fuzz::require(outcome.seconds >= 0, "a run takes time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  // So that a file of XML that it names is one of the tests'.
  auto const machine = parse_machine(NIGH_TEST_DATA "/topology/machine.json",
                                     std::string(fuzz::text_of(data, size)));
  if (machine)
    ask_everything(*machine);
  else
    fuzz::require(!machine.message().empty(), "a refusal has a reason");
  return 0;
}
