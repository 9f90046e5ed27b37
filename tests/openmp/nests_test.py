#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spreads of OpenMP programs with nested regions, with a coordinator that grants what a script says:
nests_test.py, with the arguments of shim_test.py."""
import os
import sys
import tempfile
import unittest

from shim_test import A, B, CPUS, run

EIGHT = "0,1,2,3,4,5,6,7"  # where there are fewer cpus, threads stay where they are


# As nigh run sets them for libomp.
WAITING = {"KMP_HOT_TEAMS_MAX_LEVEL": "2", "KMP_HOT_TEAMS_MODE": "1", "KMP_BLOCKTIME": "1"}


class Nests(unittest.TestCase):
    """Regions whose threads begin regions, spread: "leaders: members of each", and where."""

    def nests(self, spread, *words, name=None, leases=EIGHT, **environment):
        for each in [name] if name else ["nested-gcc", "nested-clang"]:
            with self.subTest(name=each, spread=spread, words=words, **environment):
                settings = dict(WAITING, **{"OMP_NUM_THREADS": "8", "NIGH_OPENMP_CPU_ORDER": "0,1,2,3/4,5,6,7"})
                settings.update(environment)
                out, err = run(each, *words, leases=leases, NIGH_OPENMP_SPREAD=spread, **settings)
                yield [line.rpartition(" levels ") for line in out.splitlines()], err

    def sizes(self, line):
        """What omp_get_max_threads() says of each inner team, and how many threads it has."""
        return [(int(part.split("(")[0]), len(part.split("(")[1].split())) for part in line[0].split(") ")]

    def test_have_as_many_threads_as_the_spread_says(self):
        for spread, teams_ in (("1", [1] * 8), ("2", [2] * 4), ("3", [2] * 4), ("4", [4] * 2), ("5", [4] * 2),
                               ("8", [8]), ("all", [8]), ("1000", [8])):
            for lines, _ in self.nests(spread, "3"):
                # As without a spread, for nobody knows yet that it holds others.
                self.assertEqual(self.sizes(lines[0]), [(8, 1)] * 8)
                self.assertEqual([self.sizes(line) for line in lines[1:]], [[(t, t) for t in teams_]] * 2)
                self.assertEqual({line[2] for line in lines}, {"1 max 8"})  # outside, nothing is different

    @unittest.skipIf(len(CPUS) < 2, "needs two cpus")
    def test_are_where_their_masters_are(self):
        for spread, line in (("1", f"1({A}) 1({B})"), ("2", f"2({A} {B})")):
            for lines, _ in self.nests(spread, "3", leases=f"{B},{A}", OMP_NUM_THREADS="2",
                                       NIGH_OPENMP_CPU_ORDER=f"{A},{B}"):
                self.assertEqual([at[0] for at in lines[1:]], [line] * 2)

    def test_follow_the_leases(self):
        for lines, _ in self.nests("2", "5", leases=f"{EIGHT};0,1,2,3;0;-"):
            self.assertEqual([self.sizes(line) for line in lines[1:3]], [[(2, 2)] * 2, [(1, 1)]])
            own = len(CPUS)
            self.assertEqual(sum(size for _, size in self.sizes(lines[3])), min(8, own))  # all of the process
            self.assertEqual(self.sizes(lines[4]), [(2, 2)] * 4)

    def test_use_no_more_cpus_than_the_program_wants_threads(self):
        for lines, _ in self.nests("2", "2", "0", "0", "threads=3"):
            self.assertEqual(sorted(self.sizes(lines[1])), [(1, 1), (2, 2)])
        for lines, _ in self.nests("2", "2", OMP_NUM_THREADS="1"):
            self.assertEqual(self.sizes(lines[1]), [(1, 1)])

    def test_clauses_are_kept(self):
        for lines, _ in self.nests("2", "2", "3"):
            self.assertEqual(self.sizes(lines[1]), [(2, 2), (2, 2), (2, 2)])
        for lines, _ in self.nests("4", "2", "0", "3"):
            self.assertEqual(self.sizes(lines[1]), [(4, 3), (4, 3)])
        for lines, _ in self.nests("4", "2", "2", "3"):
            self.assertEqual([members for _, members in self.sizes(lines[1])], [3, 3])
        for lines, _ in self.nests("2", "2", "9"):
            self.assertEqual(self.sizes(lines[1]), [(1, 1)] * 9)

    def test_clauses_are_ceilings_or_nothing_when_asked(self):
        for lines, _ in self.nests("2", "2", "3", "3", NIGH_ADJUST="all"):
            self.assertEqual(sorted(self.sizes(lines[1])), [(1, 1), (2, 2)])  # three cpus are of use
        for lines, _ in self.nests("2", "2", "3", "3", NIGH_ADJUST="nests"):
            self.assertEqual(self.sizes(lines[1]), [(2, 2)] * 4)

    def test_programs_that_allow_one_level_have_one(self):
        for settings in ({"OMP_MAX_ACTIVE_LEVELS": "1"}, {"OMP_NESTED": "false"}):
            for lines, err in self.nests("2", "2", NIGH_VERBOSE="1", **settings):
                self.assertEqual([self.sizes(line) for line in lines], [[(8, 1)] * 8] * 2)
                self.assertIn("kept to one thread", err)
        for word in ("levels=1", "nested=0"):
            for lines, _ in self.nests("2", "2", "0", "0", word):
                self.assertEqual([self.sizes(line) for line in lines], [[(8, 1)] * 8] * 2)

    def test_fortran_programs_that_allow_one_level_have_one(self):
        for name in ("levels-gfortran", "levels-gfortran-8"):  # integers of eight bytes have calls of their own
            for word, threads in ((None, "4"), ("levels", "1"), ("nested", "1")):
                out, _ = run(name, *filter(None, [word]), leases=EIGHT, NIGH_OPENMP_SPREAD="4", OMP_NUM_THREADS="8")
                self.assertEqual(out.split(), ["1", threads], (name, word))

    def test_programs_that_allow_more_are_spread(self):
        for word in ("levels=2", "nested=1", "levels=3"):
            for lines, _ in self.nests("4", "2", "0", "0", word):
                self.assertEqual(self.sizes(lines[1]), [(4, 4)] * 2)

    def test_programs_without_nests_are_as_they_were(self):
        for lines, err in self.nests("4", "3", "0", "0", "flat", NIGH_VERBOSE="1"):
            self.assertEqual({len(line[0].split()) for line in lines}, {8})
            self.assertIn("no region holds others", err)
        for name in ("kinds-gcc", "kinds-clang", "kinds-gfortran", "threads-gcc", "threads-clang", "forks-clang"):
            plain = run(name, shim=None, OMP_NUM_THREADS="4")
            for spread in ("2", "auto"):
                self.assertEqual(run(name, leases="0,1,2,3", NIGH_OPENMP_SPREAD=spread, OMP_NUM_THREADS="4"), plain)

    def test_results_are_the_same(self):
        for name in ("nested-gcc", "nested-clang"):
            # By threads of the program that begin them at once.
            plain = run(name, "60", "0", "0", "sum=3", shim=None)
            for spread in ("1", "3", "all", "auto"):
                for leases in (None, EIGHT, f"{EIGHT};0,1,2;-;3"):
                    with self.subTest(name=name, spread=spread, leases=leases):
                        self.assertEqual(run(name, "60", "0", "0", "sum=3", leases=leases, NIGH_OPENMP_SPREAD=spread,
                                             OMP_NUM_THREADS="8", **WAITING), plain)

    def test_the_next_run_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("nested-gcc", "nested-clang"):
                kept = {"NIGH_SPREADS": os.path.join(folder, name), "NIGH_OPENMP_MACHINE": "m", "NIGH_VERBOSE": "1"}
                for lines, err in self.nests("4", "1", name=name, **kept):
                    self.assertEqual(self.sizes(lines[0]), [(8, 1)] * 8)
                    self.assertIn("the next run of the program begins with one", err)
                for lines, _ in self.nests("4", "1", name=name, **kept):
                    self.assertEqual(self.sizes(lines[0]), [(4, 4)] * 2)
                for lines, _ in self.nests("2", "1", "3", name=name, **kept):  # which is another region
                    self.assertEqual([members for _, members in self.sizes(lines[0])], [1, 1, 1])
                for lines, _ in self.nests("2", "1", "3", name=name, **kept):
                    self.assertEqual(self.sizes(lines[0]), [(2, 2)] * 3)
                # That a number was tried is nothing that was found: it is to be searched.
                for _, err in self.nests("auto", "1", name=name, **kept):
                    self.assertIn("in trial 1", err)

    def test_what_was_found_is_held_by_the_next_run(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "spreads")
            kept = {"NIGH_SPREADS": file, "NIGH_OPENMP_MACHINE": "m", "NIGH_VERBOSE": "1"}
            for _ in self.nests("4", "1", name="nested-gcc", **kept):
                pass
            with open(file, encoding="utf-8") as text:
                found = text.read()
            self.assertIn('"spread": 1, "active": 1, "grain": 1, "seconds": 0}', found)
            found = found.replace('"workers": 1, "spread": 1, "active": 1, "grain": 1, "seconds": 0}',
                                  '"workers": 8, "spread": 2, "active": 8, "grain": 1, "seconds": 0.5}')
            with open(file, "w", encoding="utf-8") as text:
                text.write(found)
            for lines, err in self.nests("auto", "2", name="nested-gcc", **kept):
                self.assertEqual([self.sizes(line) for line in lines], [[(2, 2)] * 4] * 2)
                self.assertIn("held after 0 trials", err)
            with open(file, "w", encoding="utf-8") as text:
                text.write("x")
            for lines, err in self.nests("auto", "2", name="nested-gcc", **kept):
                self.assertEqual(err.count("is no file of spreads, and not used"), 2)  # at both ends
            with open(file, encoding="utf-8") as text:
                self.assertEqual(text.read(), "x")

    def test_a_search_finds_what_is_best(self):
        """Ten times as fast with four leaders, whatever else the machine does; nearly."""
        held = []
        for _ in range(6):
            for lines, _ in self.nests("auto", "50", "0", "0", "best=4", name="nested-gcc"):
                held.append(self.sizes(lines[-1]))
                tried = {tuple(self.sizes(line)) for line in lines[1:]}
            if held[-1] == [(2, 2)] * 4:
                break
        self.assertEqual(held[-1], [(2, 2)] * 4, held)
        self.assertGreater(len(tried), 2)

    def test_a_search_tells_how_far_it_is(self):
        for name in ("nested-gcc", "nested-clang"):
            _, err = run(name, "400", "0", "0", "sum=1", leases=EIGHT, NIGH_OPENMP_SPREAD="auto", NIGH_VERBOSE="1",
                         OMP_NUM_THREADS="8")
            self.assertRegex(err, r"399 times: spread \d on \d of 8 cpus, \d leaders?, "
                                  r"(held after \d+ trials?|in trial \d+)\n")

    def test_mistakes_are_told_and_passed_over(self):
        for wrong in ("0", "-1", "x", "2x", "1.5"):
            out, err = run("opens", NIGH_OPENMP_SPREAD=wrong)
            self.assertEqual(out, "done\n")
            self.assertRegex(err, r"^nigh: opens: NIGH_OPENMP_SPREAD[^\n]*\n$")
        for lines, _ in self.nests("4", "2", NIGH_OPENMP_CPU_ORDER="0+x"):
            self.assertEqual(self.sizes(lines[1]), [(4, 4)] * 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
