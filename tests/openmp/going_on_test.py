#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Regions that wait for other regions go on under nighd, whoever has the cpus: going_on_test.py, with the arguments of
shim_test.py."""
import os
import subprocess
import sys
import time
import unittest

from shim_test import QUIET, SHIM, WithNighd, program

# No speed is asked for: regions that wait for each other's cpus stand still for seconds, each time. Other programs of
# the host delay some runs as long, so only the quickest of a few counts.
STANDS_STILL = 2
TRIES = 3


class GoingOn(WithNighd):
    def check(self, names, seconds_of):
        """With threads that wait awake, and with such that sleep."""
        self.start()
        for name in names:
            for policy in ({}, {"OMP_WAIT_POLICY": "passive"}):
                with self.subTest(name=name, **policy):
                    took = []
                    while len(took) < TRIES and min(took, default=STANDS_STILL) >= STANDS_STILL:
                        took.append(seconds_of(name, {"OMP_NUM_THREADS": "2", **policy}))
                    self.assertLess(min(took), STANDS_STILL)

    def test_threads_that_wait_for_each_other(self):
        def seconds_of(name, environment):
            began = time.monotonic()
            self.assertEqual(self.run_here(name, **environment)[0], "6\n")
            return time.monotonic() - began
        self.check(["waits-gcc", "waits-clang"], seconds_of)

    def ring(self, name, size, environment):
        """The output of so many processes that wait for each other's bytes."""
        variables = {**QUIET, **environment, "LD_PRELOAD": SHIM, "NIGH_SOCKET": self.socket}
        pipes = [os.pipe() for _ in range(size)]
        processes = []
        for number in range(size):
            ends = (pipes[number][0], pipes[(number + 1) % size][1])
            processes.append(subprocess.Popen([program(name), *map(str, ends)], env=variables, pass_fds=ends,
                                              stdout=subprocess.PIPE, text=True))
        for pipe in pipes:
            for end in pipe:
                os.close(end)
        return [process.communicate(timeout=100)[0] for process in processes]

    def check_rings(self, size):
        def seconds_of(name, environment):
            began = time.monotonic()
            self.assertEqual(self.ring(name, size, environment), ["3\n"] * size)
            return time.monotonic() - began
        self.check(["waits-gcc", "waits-clang"], seconds_of)

    def test_two_processes_that_wait_for_each_other(self):
        self.check_rings(2)

    def test_four_processes_that_wait_for_each_other(self):
        self.check_rings(4)

    def test_ranks_that_wait_for_each_other(self):
        def seconds_of(name, environment):
            words = [name.replace("waits_ranks-", "mpiexec."), "-n", "2"]
            if name.endswith("openmpi"):
                words += ["--oversubscribe", "--bind-to", "none"]
            variables = {**QUIET, **environment, "NIGH_SOCKET": self.socket, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                         "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            done = subprocess.run([*words, "env", f"LD_PRELOAD={SHIM}", program(name)], env=variables,
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "6\n"), done.stderr)
            return float(done.stderr.splitlines()[-1])  # MPI's own start takes as long as the bound
        self.check(["waits_ranks-openmpi", "waits_ranks-mpich"], seconds_of)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
