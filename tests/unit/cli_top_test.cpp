// SPDX-License-Identifier: Apache-2.0
// The screens of nigh top: the machine, the programs, and both on screens of any size.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/top/layout.hpp"

namespace nigh::cli::top {
namespace {

using coordinator::Name;
using coordinator::Status;

MachineTree machine_of(char const* synthetic) {
  return MachineTree::of(*topology::from_synthetic(synthetic));
}

Status program(std::uint32_t number, char const* name, int first_cpu, int cpus) {
  Status p;
  p.program = number;
  p.pid = 100 + number;
  p.name = Name(name);
  p.held = static_cast<std::uint32_t>(cpus);
  p.wanted = p.held + 1;
  p.region = 0x1000;
  for (int c = first_cpu; c < first_cpu + cpus; ++c) p.holds.add(c);
  return p;
}

// Eight cpus, three programs: one that holds three cpus, one that waits, one that holds one.
Sample busy_host() {
  coordinator::HostStatus status;
  status.host.cpus = 8;
  status.host.free = 4;
  status.host.programs = 3;
  status.host.waiting = 1;
  status.host.grants = 35;
  status.host.up_us = 192'000'000;
  status.host.external_load.add(7);
  status.programs = {program(1, "npb-cg", 0, 3), program(2, "gauss", 0, 0),
                     program(3, "mmul", 4, 1)};
  status.programs[0].learnt = {6, 4};
  status.programs[0].efficiency = 876;
  status.programs[0].used_uj = 12'340'000;
  status.programs[1].requests = 1;
  status.programs[1].waiting_us = 3900;
  status.programs[1].waited_us = 1'234'567;
  status.programs[1].ran_unplaced = 6;
  Sample sample;
  sample.socket = "/run/nigh/nighd.sock";
  sample.status = status;
  sample.regions[1] = "cg.cpp:113";
  return sample;
}

struct Stage {
  explicit Stage(MachineTree tree, Sample what)
      : machine(std::move(tree)), sample(std::move(what)) {
    if (sample.status) letters.give_to(*sample.status);
  }
  Screen screen(int width, int height, Signs const& signs = unicode_signs) {
    return lay_out(view, {sample, machine, letters, signs}, width, height);
  }
  std::string text(int width, int height, Signs const& signs = unicode_signs) {
    return text_of(screen(width, height, signs).rows);
  }

  MachineTree machine;
  Sample sample;
  Letters letters;
  View view;
};

Stage stage(char const* synthetic = "pack:2 numa:1 core:4 pu:1") {
  return Stage(machine_of(synthetic), busy_host());
}

int longest(Rows const& rows) {
  int most = 0;
  for (auto const& row : rows) most = std::max(most, row.end());
  return most;
}

TEST(Top, ShowsWhoHoldsWhatOnAUsualTerminal) {
  EXPECT_EQ(stage().text(80, 24),
            R"(nigh top  /run/nigh/nighd.sock, up 0:03:12                             every 1 s
8 cpus, 4 free   1 busy with others (#)   3 programs   1 request waits
35 leases granted, 0 asked back   energy: not available here

package 0, cpus 0-3  AAA.
package 1, cpus 4-7  C..#

     PID▲ PROGRAM        CPUS    WAIT  WAITED OPTIMUM EFF% LEASES/S REGION
A     101 npb-cg          3/4       -    0 us     4/6   88        - cg.cpp:113
B     102 gauss           0/1    3 ms   1.2 s       -    -        - 0x1000
C     103 mmul            1/2       -    0 us       -    -        - 0x1000











npb-cg (101) holds cpus 0-2, at cg.cpp:113, which uses 4 well and 6 at most; 0 …
F1Help F3Search F4Filter F5Tree F6Sort F10Quit
)");
}

TEST(Top, SaysThatOthersUseLeasedCpusOnlyWhereSomeAreLeased) {
  auto sample = busy_host();
  sample.status->host.has_unseen_load = 1;
  auto const shows_others = [&] {
    auto const text = Stage(machine_of("pack:2 numa:1 core:4 pu:1"), sample).text(100, 24);
    return text.find("others on leased cpus") != text.npos;
  };
  EXPECT_TRUE(shows_others());
  sample.status->host.free = sample.status->host.cpus;
  EXPECT_FALSE(shows_others());
}

TEST(Top, SaysWhoIsUnderAQuota) {
  auto sample = busy_host();
  sample.quotas = {{1.5, "/sys/fs/cgroup/box", {1, 3}}, {1, "/sys/fs/cgroup/small", {2}}};
  auto const text = Stage(machine_of("pack:2 numa:1 core:4 pu:1"), sample).text(100, 24);
  EXPECT_NE(text.find("   A C under a quota of 1.5 cpus\n"), text.npos) << text;
  EXPECT_NE(text.find("\nB under a quota of 1 cpu "), text.npos) << text;
}

TEST(Top, ShowsTheSameOnASmallOne) {
  EXPECT_EQ(stage().text(40, 10, ascii_signs), R"(nigh top  /run/nigh/nighd.so~  every 1 s
8 cpus, 4 free   1 busy with others (#)
3 programs   1 request waits
package 0  AAA.
package 1  C..#
     PID^ PROGRAM           CPUS    WAIT
A     101 npb-cg             3/4       -
B     102 gauss              0/1    3 ms
C     103 mmul               1/2       -
F1Help F3Search F4Filter F6Sort F10Quit
)");
}

TEST(Top, FillsEveryScreenAndNoMore) {
  for (char const* machine : {"pu:1", "pack:2 numa:4 l3:2 core:4 pu:2",
                              "pack:8 numa:1 core:128 pu:1", "pack:2 numa:4 l3:16 core:8 pu:1"}) {
    auto const tree = machine_of(machine);
    for (int width : {10, 20, 40, 80, 200})
      for (int height : {2, 5, 10, 24, 60})
        for (Show show : {Show::both, Show::machine, Show::programs}) {
          Stage on(tree, busy_host());
          on.view.show = show;
          auto const screen = on.screen(width, height);
          EXPECT_EQ(screen.rows.size(), static_cast<std::size_t>(height)) << machine << width;
          if (width >= 40) {
            EXPECT_LE(longest(screen.rows), width) << machine << ' ' << height << '\n'
                                                   << text_of(screen.rows);
          }
        }
  }
}

TEST(Top, ShowsEachOfAThousandCpusOnce) {
  auto sample = busy_host();
  sample.status->host.cpus = 1024;
  sample.status->programs = {program(1, "large", 0, 1024)};
  for (char const* synthetic : {"pack:8 numa:1 core:128 pu:1", "pack:2 numa:4 l3:16 core:8 pu:1",
                                "pack:1 numa:1 core:1024 pu:1", "pack:128 numa:1 core:8 pu:1"}) {
    Stage on(machine_of(synthetic), sample);
    on.view.show = Show::machine;
    for (auto [width, height] : {std::pair{80, 300}, {200, 60}, {133, 300}, {40, 300}}) {
      int cpus = 0;
      for (auto const& row : on.screen(width, height).rows)
        for (auto const& piece : row.pieces)
          if (piece.style.ink == Ink::program) cpus += static_cast<int>(piece.text.size());
      EXPECT_EQ(cpus, 1024) << synthetic << ' ' << width;
    }
  }
}

TEST(Top, SaysHowMuchOfALargeMachineIsNotShown) {
  auto on = stage("pack:2 numa:4 l3:16 core:8 pu:1");
  auto const text = on.text(80, 24);
  EXPECT_NE(text.find("more rows of cpus: t\n"), std::string::npos) << text;
  EXPECT_NE(text.find("C     103 mmul"), std::string::npos) << "and the programs have their half";
}

TEST(Top, DrawsDomainsBehindEachOtherWhereTheyAreMany) {
  auto on = stage("pack:1 numa:6 core:24 pu:1");
  on.view.show = Show::machine;
  auto const text = on.text(40, 10);
  EXPECT_NE(text.find("d0 AAA.C..#................\n"
                      "d1 ........................\n"),
            std::string::npos)
      << text;
  on = stage("pack:1 numa:2 core:64 pu:1");
  on.view.show = Show::machine;
  EXPECT_NE(on.text(40, 7).find("d0 AAA.C..#.............................\n"
                                "   ...........................\n"
                                "d1 "),
            std::string::npos)
      << on.text(40, 7);
}

TEST(Top, DrawsDomainsAndCaches) {
  auto on = stage("pack:1 numa:2 l3:2 core:2 pu:1");
  auto const text = on.text(100, 24);
  EXPECT_NE(text.find("package 0\n"
                      "├─ domain 0, cpus 0-3  AA A.\n"
                      "└─ domain 1, cpus 4-7  C. .#\n"),
            std::string::npos)
      << text;
}

TEST(Top, NeedsNoColoursToTellProgramsApart) {
  auto on = stage();
  auto const rows = on.screen(80, 24).rows;
  auto const& cpus = rows[4].pieces;
  ASSERT_EQ(cpus.size(), 3u);
  EXPECT_EQ(cpus[1].text, "AAA");
  EXPECT_EQ(cpus[1].style, (Style{Ink::program, 0, true})) << "the chosen program's";
  EXPECT_EQ(rows[5].pieces[1].style, (Style{Ink::program, 2, false}));
}

TEST(Top, SaysWhenThereIsNoCoordinator) {
  Sample none;
  none.socket = "/tmp/n.sock";
  none.why_not = "Connection refused";
  auto const text = Stage(machine_of("pu:4"), none).text(80, 24);
  EXPECT_NE(text.find("no coordinator at /tmp/n.sock: Connection refused; waiting for one\n"),
            std::string::npos);
  EXPECT_NE(text.find("package 0, cpus 0-3  ....\n"), std::string::npos) << text;
}

TEST(Top, ShowsEnergyWhereItIsKnown) {
  auto on = stage();
  EXPECT_EQ(on.text(120, 24).find("ENERGY"), std::string::npos);
  on.sample.status->host.measures_energy = 1;
  on.sample.status->host.energy_uj = 4'100'000'000;
  on.sample.rates = Rates{.grants = 35, .revocations = 34.5, .watts = 12.34, .granted = {{1, 20}}};
  auto const text = on.text(120, 24);
  EXPECT_NE(text.find("energy 12.3 W, 4.1 kJ"), std::string::npos) << text;
  EXPECT_NE(text.find("leases 35.0/s granted, 34.5/s asked back"), std::string::npos) << text;
  EXPECT_NE(text.find("12.3 J"), std::string::npos) << text;
  EXPECT_NE(text.find(" 20.0 "), std::string::npos) << text;
}

TEST(Top, ReportsAllOfIt) {
  auto const on = stage("pack:8 numa:1 core:128 pu:1");
  auto const text = text_of(report({on.sample, on.machine, on.letters, ascii_signs}, 120));
  EXPECT_NE(text.find("package 7, cpus 896-1023"), std::string::npos) << text;
  EXPECT_NE(text.find("C     103 mmul"), std::string::npos);
  EXPECT_EQ(text.find("F10"), std::string::npos) << "keys are for those who look";
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c < 127); }));
}

TEST(Top, RatesAreBySecondOfTheCoordinator) {
  auto before = *busy_host().status;
  auto now = before;
  now.host.up_us += 2'000'000;
  now.host.grants += 10;
  now.programs[0].granted += 4;
  now.host.energy_uj += 5'000'000;
  auto const rates = rates_between(before, now);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->grants, 5);
  EXPECT_DOUBLE_EQ(rates->granted.at(1), 2);
  EXPECT_DOUBLE_EQ(rates->watts, 2.5);
  EXPECT_FALSE(rates_between(now, before)) << "it is another coordinator";
  EXPECT_FALSE(rates_between(now, now));
}

TEST(Top, ProgramsKeepTheirLetters) {
  Letters letters;
  auto status = *busy_host().status;
  letters.give_to(status);
  EXPECT_EQ(letters.of(3), 'C');
  status.programs.erase(status.programs.begin());
  status.programs.push_back(program(4, "new", 0, 1));
  letters.give_to(status);
  EXPECT_EQ(letters.of(3), 'C');
  EXPECT_EQ(letters.of(4), 'A') << "which has become free";
  for (std::uint32_t n = 5; n < 100; ++n) status.programs.push_back(program(n, "many", 0, 0));
  letters.give_to(status);
  EXPECT_EQ(letters.of(60), '+');
}

TEST(Top, DisarmsNamesAndCutsThemByWidth) {
  EXPECT_EQ(printable("a\x1b[2J\xc2\x9b\xe2\x80\xae\xff"
                      "b",
                      unicode_signs),
            "a?[2J???b");
  EXPECT_EQ(printable("M\xc3\xbcnchen", unicode_signs), "M\xc3\xbcnchen");
  EXPECT_EQ(printable("M\xc3\xbcnchen", ascii_signs), "M?nchen");
  EXPECT_EQ(width_of("\xe6\x97\xa5\xe6\x9c\xac"), 4);
  EXPECT_EQ(cut_to("\xe6\x97\xa5\xe6\x9c\xac", 3, unicode_signs), "\xe6\x97\xa5…");
  EXPECT_EQ(cut_to("solver", 6, unicode_signs), "solver");
  EXPECT_EQ(cut_to("solver", 5, ascii_signs), "solv~");
  EXPECT_EQ(cut_to("solver", 0, ascii_signs), "");
  EXPECT_EQ(cut_front_to("cg.cpp:113", 10, ascii_signs), "cg.cpp:113");
  EXPECT_EQ(cut_front_to("cg.cpp:113", 6, ascii_signs), "~p:113");
  EXPECT_EQ(cut_front_to("\xe6\x97\xa5\xe6\x9c\xac", 3, unicode_signs), "…\xe6\x9c\xac");
  EXPECT_EQ(cut_front_to("cg.cpp:113", 0, ascii_signs), "");
}

TEST(Top, WritesDurationsInSevenCharacters) {
  EXPECT_EQ(duration_text(0), "0 us");
  EXPECT_EQ(duration_text(999), "999 us");
  EXPECT_EQ(duration_text(3900), "3 ms");
  EXPECT_EQ(duration_text(1'250'000), "1.2 s");
  EXPECT_EQ(duration_text(245'000'000), "4:05");
  for (std::uint64_t us = 1; us < UINT64_MAX / 7; us *= 7)
    EXPECT_LE(duration_text(us).size(), 7u) << us;
}

}  // namespace
}  // namespace nigh::cli::top
