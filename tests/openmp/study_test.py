#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studies of regions, as `nigh profile` makes them: study_test.py, with the arguments of shim_test.py."""
import os
import sys
import tempfile
import unittest

from shim_test import CPUS, program, run, teams


class Study(unittest.TestCase):
    """Every region with so many threads, and how long it took."""

    def study(self, name, *words, threads=1, **environment):
        """What was printed, and the times that were written: [(process, [line])]."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = run(name, *words, NIGH_OPENMP_TEAM=str(threads), **environment,
                           NIGH_OPENMP_TIMES=os.path.join(folder, "times"))
            written = []
            for file in sorted(os.listdir(folder)):
                with open(os.path.join(folder, file), encoding="utf-8") as lines:
                    written.append((file, lines.read().splitlines()))
            return out, err, written

    def regions(self, name, *words, **environment):
        """{(address, threads): runs}, and the heading."""
        _, err, written = self.study(name, *words, **environment)
        self.assertEqual(err, "")
        self.assertEqual(len(written), 1, written)
        head, *lines = written[0][1]
        found = {}
        for line in lines:
            region, threads, runs, total, low, median, high, file = line.split(" ", 7)
            self.assertEqual(file, program(name))
            self.assertLessEqual(int(low), int(median))
            self.assertLessEqual(int(median), int(high))
            self.assertGreaterEqual(int(total), int(runs))
            found[int(region, 16), int(threads)] = int(runs)
        return found, head

    def test_sizes(self):
        for name in ("regions-gcc", "regions-clang"):
            for threads in range(1, min(len(CPUS), 3) + 1):
                with self.subTest(name=name, threads=threads):
                    found, head = self.regions(name, "5", threads=threads)
                    self.assertEqual(head, f"nigh-openmp-times 1 {threads} 0 {program(name)}")
                    # Three of the size that is studied, and that with a clause; nested ones are
                    # part of theirs.
                    self.assertEqual(sorted((n, runs) for (_, n), runs in found.items()),
                                     sorted([(threads, 5)] * 3 + [(3, 5)]))
                    self.assertEqual(len({region for region, _ in found}), 4)

    def test_clauses_are_sizes_when_asked(self):
        found, _ = self.regions("regions-gcc", NIGH_ADJUST="all")
        self.assertEqual({threads for _, threads in found}, {1})

    def test_clauses_of_one_are_timed(self):
        for name in ("clauses-gcc", "clauses-clang"):
            found, _ = self.regions(name, threads=1, OMP_NUM_THREADS="1")
            self.assertEqual([(n, runs) for (_, n), runs in found.items()], [(0, 10)])
            if len(CPUS) > 1:
                found, _ = self.regions(name, threads=2, OMP_NUM_THREADS="2")
                self.assertEqual([(n, runs) for (_, n), runs in found.items()], [(2, 10)])

    def test_threads_that_begin_regions_at_once(self):
        for name in ("threads-gcc", "threads-clang"):
            found, _ = self.regions(name, threads=min(2, len(CPUS)))
            self.assertEqual(list(found.values()), [610])

    def test_output_is_the_same(self):
        for name in ("kinds-gcc", "kinds-clang", "kinds-gfortran"):
            plain, _ = run(name, shim=None)
            for threads in range(1, min(len(CPUS), 3) + 1):
                self.assertEqual(self.study(name, threads=threads)[:2], (plain, ""))

    @unittest.skipIf(len(CPUS) < 2, "needs two cpus")
    def test_teams_are_on_the_first_cpus_of_the_order(self):
        for name in ("teams-gcc", "teams-clang"):
            order = ",".join(map(str, reversed(CPUS)))
            out, _, _ = self.study(name, "2", threads=2, NIGH_OPENMP_CPUS=order)
            self.assertEqual(teams(out), [f"2: {CPUS[-1]} {CPUS[-2]}"] * 2)
            self.assertEqual(teams(self.study(name, "1", threads=1, NIGH_OPENMP_CPUS=order)[0]), [f"1: {CPUS[-1]}"])
            self.assertEqual(teams(self.study(name, "1", threads=1)[0]), [f"1: {CPUS[0]}"])
            # Others than it may have, and some twice.
            order = f"99999,{CPUS[1]},{CPUS[1]},{CPUS[0]}"
            out, _, _ = self.study(name, "1", threads=2, NIGH_OPENMP_CPUS=order)
            self.assertEqual(teams(out), [f"2: {CPUS[1]} {CPUS[0]}"])

    def test_children_write_nothing(self):
        for name in ("forks-gcc", "forks-clang"):
            found, _ = self.regions(name, "before")
            self.assertEqual(sum(found.values()), 1)  # the parent's

    def test_who_leaves_at_once_has_no_times(self):
        self.assertEqual(self.study("regions-gcc", "1", "leave")[2], [])
        written = self.study("regions-gcc", "1", "become", program("regions-gcc"), "2")[2]
        self.assertEqual([{line.split()[2] for line in lines[1:]} for _, lines in written], [{"2"}])
        self.assertEqual(self.study("opens")[2], [])

    def test_times_that_cannot_be_written_hurt_nobody(self):
        out, err = run("regions-gcc", NIGH_OPENMP_TEAM="1", NIGH_OPENMP_TIMES="/nonexistent/times")
        self.assertEqual((out, err), ("regions begin\nregions end\n", ""))

    def test_mistakes_are_told_and_passed_over(self):
        for wrong in ({"NIGH_OPENMP_TEAM": "0"}, {"NIGH_OPENMP_TEAM": "-1"}, {"NIGH_OPENMP_TEAM": "two"},
                      {"NIGH_OPENMP_TEAM": "1x"}, {"NIGH_OPENMP_TEAM": str(len(CPUS) + 1)},
                      {"NIGH_OPENMP_TEAM": "1", "NIGH_OPENMP_CPUS": "x"},
                      {"NIGH_OPENMP_TEAM": "1", "NIGH_OPENMP_CPUS": "99999"}):
            out, err = run("opens", **wrong)
            self.assertEqual(out, "done\n")
            self.assertRegex(err, r"^nigh: opens: NIGH_OPENMP_(TEAM|CPUS)[^\n]*\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
