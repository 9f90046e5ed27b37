#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nigh run` on a machine with two domains of two cores and a memory-only one: threads and pages are
where they should be, as the kernel of that machine tells. run_test.py NIGH FOLDER_OF_PROGRAMS FOLDER_OF_OPENMP_PROGRAMS"""
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from one_boot import said_in_guest  # noqa: E402

NIGH, PROGRAMS = sys.argv[1], sys.argv[2]
NESTED = os.path.relpath(sys.argv[3], PROGRAMS) + "/nested-gcc"
PAGES = 32 * 256  # of 32 MiB

# One boot for all: (what it is called, options of nigh run, program).
RUNS = [
    ("interleave", "--mem interleave", "where-pages 32"),
    ("interleave all", "--mem interleave:0-2", "where-pages 32"),
    ("bind", "--mem bind:1", "where-pages 32"),
    ("bind to memory only", "--mem bind:2", "where-pages 32"),
    ("preferred", "--mem preferred:1 --bind 0", "where-pages 32"),
    ("first touch", "--mem first-touch --bind 3", "where-pages 32"),
    ("first touch inside interleave", "--mem first-touch --bind 0", "where-pages 32"),
    ("policies are inherited", "--mem bind:1", "sh -c PROGRAMS/where-pages\\ 32"),
    ("compact", "--threads 3 --bind compact", "where-openmp-gcc"),
    ("scatter", "--threads 3 --bind scatter", "where-openmp-gcc"),
    ("scatter pthreads", "--threads 4 --bind scatter", "where-pthreads 3"),
    ("watched", "-v --threads 1 --bind 2 --mem interleave", "where-pages 32 8"),
    ("spread", "--spread 2", f"{NESTED} 2"),
    ("no such domain", "--mem bind:3", "where-pages 1"),
]


def command(options, program):
    program = program.replace("PROGRAMS", PROGRAMS)
    if not program.startswith("sh "):
        program = f"{PROGRAMS}/{program}"
    prefix = "numactl --interleave=0,1 " if "first-touch --bind 0" in options else ""
    return f"{prefix}{NIGH} run {options} -- {program}"


def boot():
    return said_in_guest(["--nodes", "2", "--cores", "2", "--memory-only", "1"], "NIGH_COORDINATOR=off",
                         {name: command(options, program) for name, options, program in RUNS})


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.said = boot()

    def pages(self, name):
        return {int(node): int(count) for node, count in re.findall(r"node (-?\d+): (\d+)\n", self.said[name])}

    def threads(self, name):
        return re.findall(r"^thread \d+ (\S+)$", self.said[name], flags=re.MULTILINE)

    def test_interleaving_spreads_pages_evenly(self):
        self.assertEqual(self.pages("interleave"), {0: PAGES // 2, 1: PAGES // 2})
        for count in self.pages("interleave all").values():
            self.assertAlmostEqual(count, PAGES / 3, delta=1)
        self.assertEqual(len(self.pages("interleave all")), 3)

    def test_bound_and_preferred_memory_is_there(self):
        self.assertEqual(self.pages("bind"), {1: PAGES})
        self.assertEqual(self.pages("bind to memory only"), {2: PAGES})
        self.assertEqual(self.pages("preferred"), {1: PAGES})
        self.assertEqual(self.pages("policies are inherited"), {1: PAGES})

    def test_first_touch_is_where_the_thread_runs(self):
        self.assertEqual(self.pages("first touch"), {1: PAGES})
        self.assertEqual(self.pages("first touch inside interleave"), {0: PAGES})

    def test_compact_fills_and_scatter_deals(self):
        self.assertEqual(self.threads("compact"), ["0", "1", "2"])
        self.assertEqual(self.threads("scatter"), ["0", "2", "1"])
        self.assertEqual(self.threads("scatter pthreads"), ["0", "2", "1", "3"])

    def test_drones_are_beside_their_masters(self):
        self.assertEqual(self.said["spread"].splitlines()[1], "2(0 1) 2(2 3) levels 1 max 4")

    def test_watching_sees_the_same(self):
        said = self.said["watched"]
        self.assertRegex(said, r"where-pages \d+ +\d+\.\d\d s +\d+  cpu 2 100%\n")
        shares = [float(share) for share in re.findall(r"pages in domain \d +\S+ MiB +(\S+)%\n", said)]
        self.assertEqual(len(shares), 2, said)
        for share in shares:
            self.assertAlmostEqual(share, 50, delta=3)

    def test_domains_that_do_not_exist_are_told(self):
        self.assertEqual(self.said["no such domain"],
                         "nigh: --mem bind:3: there is no domain 3; this machine has 3 domains, from 0\nstatus 125\n")

    def test_everything_else_ended_well(self):
        for name, said in self.said.items():
            if name != "no such domain":
                self.assertTrue(said.endswith("status 0\n"), (name, said))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
