#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the threads of OpenMP programs wait, with the shim in them and a coordinator that grants what a
script says: waiting_test.py SCRIPTED_SHIM SHIM NIGHD FOLDER_OF_PROGRAMS [unittest arguments]. What was
not built is skipped."""
import os
import subprocess
import sys
import unittest

SCRIPTED, SHIM, _, PROGRAMS = map(os.path.abspath, sys.argv[1:5])
CPUS = sorted(os.sched_getaffinity(0))
ONE, TWO = str(CPUS[0]), ",".join(map(str, CPUS[:2]))
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}
# As `nigh run` sets it.
OURS = {"KMP_BLOCKTIME": "1"}


@unittest.skipIf(len(CPUS) < 2, "needs two cpus")
class Waiting(unittest.TestCase):
    """Of teams of two (programs/waiting.cpp)."""

    def check(self, words, expected, leases, programs=("waiting-gcc", "waiting-clang"), **environment):
        for name in programs:
            path = os.path.join(PROGRAMS, name)
            if not os.path.exists(path):
                continue
            variables = dict(QUIET, LD_PRELOAD=SCRIPTED, **environment)
            if leases:
                variables["NIGH_TEST_LEASES"] = leases
            with self.subTest(name=name, words=words, **environment):
                done = subprocess.run([path, *words], env=variables, capture_output=True, text=True, timeout=300,
                                      check=False)
                self.assertEqual((done.returncode, done.stdout.split("\n")[:-1], done.stderr), (0, expected, ""))

    def test_is_calm_on_fewer_cpus_and_quick_again_on_enough(self):
        for environment in ({}, OURS):
            self.check(["regions", TWO, "quick", "regions", ONE, "calm", "regions", TWO, "quick"],
                       ["calm", "quick", "quick", "calm", "calm", "quick"], ONE, **environment)

    def test_is_quick_on_enough_cpus(self):
        self.check(["regions"], ["quick"], TWO)

    def test_is_quick_without_a_coordinator(self):
        self.check(["regions"], ["quick"], None)

    def test_is_calm_where_the_coordinator_has_no_cpus(self):
        self.check(["regions", "-", "quick"], ["calm", "quick"], "!")

    def test_a_child_of_a_calm_program_lives(self):
        self.check(["regions", "fork", "regions", TWO, "quick"], ["calm", "child", "calm", "quick"], ONE)

    def test_is_as_the_user_says(self):
        for said in ({"OMP_WAIT_POLICY": "active"}, {"KMP_BLOCKTIME": "5"}, {"GOMP_SPINCOUNT": "10"},
                     {"KMP_LIBRARY": "turnaround"}, dict(OURS, OMP_WAIT_POLICY="active")):
            self.check(["regions"], ["quick"], ONE, **said)
        self.check(["regions"], ["quick"], ONE, programs=["waiting-gcc"], OMP_WAIT_POLICY="passive")

    def test_is_as_a_script_below_nigh_run_says(self):
        ours = dict(OURS, NIGH_BLOCKTIME="1", LD_PRELOAD=SHIM)
        for said, kept in (({}, True), ({"OMP_WAIT_POLICY": "active"}, False), ({"KMP_LIBRARY": "turnaround"}, False),
                           ({"GOMP_SPINCOUNT": ""}, True), ({"OMP_WAIT_POLICY": "active", "NIGH_BLOCKTIME": ""}, True),
                           ({"OMP_WAIT_POLICY": "active", "KMP_BLOCKTIME": "5"}, True)):
            given = {**ours, **said}
            left = subprocess.run(["env"], env={**QUIET, **given}, capture_output=True, text=True, timeout=60, check=True)
            expected = [f"{name}={value}" for name, value in given.items() if kept or "BLOCKTIME" not in name]
            with self.subTest(**said):
                self.assertEqual(sorted(set(left.stdout.splitlines()) & {f"{n}={v}" for n, v in given.items()}),
                                 sorted(expected))

    def test_is_quick_where_so_many_threads_are_not_allowed(self):
        self.check(["regions"], ["quick"], ONE, programs=["waiting-gcc"], OMP_THREAD_LIMIT="1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
