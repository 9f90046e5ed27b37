#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nigh run --spread` on a machine with four domains of two cores: leaders and members are near each other,
as the kernel of that machine tells. spread_test.py NIGH FOLDER_OF_OPENMP_PROGRAMS [JACOBI2D]"""
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from one_boot import said_in_guest  # noqa: E402

NIGH, PROGRAMS = sys.argv[1], sys.argv[2]
JACOBI2D = sys.argv[3] if len(sys.argv) > 3 else None
COMPILERS = [c for c in ("gcc", "clang") if os.path.exists(f"{PROGRAMS}/nested-{c}")]
TEAMS = {"1": "1(0) 1(1) 1(2) 1(3) 1(4) 1(5) 1(6) 1(7)", "2": "2(0 1) 2(2 3) 2(4 5) 2(6 7)",
         "3": "2(0 1) 2(2 3) 2(4 5) 2(6 7)", "4": "4(0 1 2 3) 4(4 5 6 7)", "all": "8(0 1 2 3 4 5 6 7)"}
JACOBI = f"{JACOBI2D} --variant openmp-gcc/nested --points 20 --blocks 8 --threads 8 --spread 2"


def boot():
    runs = {f"{compiler} {spread}": f"{NIGH} run --spread {spread} -- {PROGRAMS}/nested-{compiler} 2"
            for compiler in COMPILERS for spread in TEAMS}
    runs["part"] = f"taskset -c 1-4 {NIGH} run --spread 2 -- {PROGRAMS}/nested-{COMPILERS[0]} 2"
    runs["bound"] = f"{NIGH} run --spread 2 --bind 0,2,4,6 -- {PROGRAMS}/nested-{COMPILERS[0]} 2"
    runs["coordinator"] = (f"NIGH_COORDINATOR= NIGH_SOCKET=/tmp/c.sock {NIGH} run --spread 4 -- "
                           f"{PROGRAMS}/nested-{COMPILERS[0]} 2")
    if JACOBI2D:
        runs["jacobi reference"] = JACOBI + " --reference"
        for spread in ("1", "2", "4", "all", "auto"):
            runs["jacobi " + spread] = f"NIGH_ADJUST=nests {NIGH} run --spread {spread} -- {JACOBI}"
    return said_in_guest(["--nodes", "4", "--cores", "2"], "NIGH_COORDINATOR=off OMP_WAIT_POLICY=passive", runs)


class Spread(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.said = boot()

    def second(self, name):
        """Where the second region's leaders and members were."""
        return self.said[name].splitlines()[1].rpartition(" levels ")[0]

    def test_teams_lie_in_domains_or_have_whole_ones(self):
        for compiler in COMPILERS:
            for spread, teams in TEAMS.items():
                self.assertEqual(self.second(f"{compiler} {spread}"), teams)

    def test_only_allowed_cpus_are_used(self):
        self.assertEqual(self.second("part"), "1(1) 2(2 3) 1(4)")
        self.assertEqual(self.second("bound"), "2(0 2) 2(4 6)")

    def test_granted_cpus_are_used(self):
        self.assertEqual(self.second("coordinator"), TEAMS["4"])

    @unittest.skipIf(JACOBI2D is None, "needs jacobi2d")
    def test_results_are_the_same(self):
        lines = {said for name, said in self.said.items() if name.startswith("jacobi")}
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines.pop(), r"^jacobi2d .* checksum \w+\nstatus 0\n$")

    def test_everything_ended_well(self):
        for name, said in self.said.items():
            self.assertTrue(said.endswith("status 0\n"), (name, said))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
