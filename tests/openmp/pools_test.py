#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes of thread pools that are not OpenMP: pools_test.py, with the arguments of shim_test.py."""
import os
import signal
import subprocess
import sys
import time
import unittest

import shim_test
from shim_test import CPUS, QUIET, SCRIPTED, SHIM, program, run

# How their libraries call them.
OPENBLAS = ("libscipy_openblas64_-test.so", "scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_")
PLAIN = ("libopenblas-test.so", "openblas_set_num_threads", "openblas_get_num_threads")
BLIS = ("libblis-test.so", "bli_thread_set_num_threads", "bli_thread_get_num_threads")
OWN = 64  # more than an equal part of any host's cpus that has not as many


def part(programs, own=OWN):
    return min(own, max(1, len(CPUS) // programs))


def load(library):
    file, setter, getter = library
    return f"load={program(file)},{setter},{getter}"


class Pools(unittest.TestCase):
    def sizes(self, words, adjust="openblas", library=OPENBLAS, shim=SCRIPTED, name="pools-gcc", **environment):
        """What `get` says each time; nothing on standard error."""
        settings = {"POOL_THREADS": str(OWN), "OMP_NUM_THREADS": "2", "NIGH_ADJUST": adjust, **environment}
        out, err = run(name, load(library), *words.split(), shim=shim, **settings)
        self.assertEqual(err, "")
        return [int(line) for line in out.split()]

    def test_stay_unless_the_user_lets_them(self):
        words = "beside=4 close get region get work close get"
        for adjust in ("", "none", "without-clause", "libelse", "blis", "openblas=none", "all,openblas=none",
                       "libscipy_openblas64_=none,all"):
            with self.subTest(adjust=adjust):
                self.assertEqual(self.sizes(words, adjust), [OWN] * 3)

    def test_follow_the_equal_part_where_he_does(self):
        words = "get beside=4 close get beside=2 region get beside=1 close get beside=0 close get"
        for adjust in ("openblas", "all", "nests", "none,openblas", "openblas=all", "libscipy_openblas64_"):
            for library in (OPENBLAS, PLAIN):
                if library is PLAIN and adjust == "libscipy_openblas64_":
                    continue
                with self.subTest(adjust=adjust, library=library[0]):
                    self.assertEqual(self.sizes(words, adjust, library), [OWN, part(4), part(2), OWN, OWN])
        self.assertEqual(self.sizes(words, name="pools-clang"), [OWN, part(4), part(2), OWN, OWN])

    def test_that_are_there_from_the_start_have_it_from_then_on(self):
        words = "get beside=1 close get"
        self.assertEqual(self.sizes(words, shim=f"{SCRIPTED} {program(OPENBLAS[0])}", NIGH_TEST_PROGRAMS="4"),
                         [part(4), OWN])

    def test_are_never_larger_than_the_program_has_said(self):
        self.assertEqual(self.sizes("set=1 beside=2 close get beside=1 close get"), [1, 1])
        more = OWN + 5
        self.assertEqual(self.sizes(f"beside=4 close get set={more} beside=1 close get"), [part(4), more])
        self.assertEqual(self.sizes("beside=1 close set=3 beside=2 region get beside=1 region get"),
                         [part(2, 3), 3])

    def test_do_not_change_within_a_region_or_by_a_child(self):
        for name in ("pools-gcc", "pools-clang"):
            self.assertEqual(self.sizes("beside=1 region inside=4 get close get", name=name), [OWN, part(4)])
        self.assertEqual(self.sizes("beside=4 vfork get close get"), [OWN, part(4)])

    def test_stay_once_the_program_makes_threads(self):
        words = "beside=4 close get thread get close get region get"
        self.assertEqual(self.sizes(words), [part(4), OWN, OWN, OWN])
        self.assertEqual(self.sizes("thread beside=4 close get region get"), [OWN, OWN])

    def test_after_a_fork_are_left_alone_until_they_have_threads_again(self):
        words = "beside=4 close get fork get beside=1 close get work close get"
        self.assertEqual(self.sizes(words), [part(4), part(4), part(4), OWN])
        self.assertEqual(self.sizes("beside=4 close child beside=1 close get work close get"), [part(4), OWN])

    def test_of_blis_change_at_regions_alone(self):
        words = "beside=4 work close get region get beside=1 region get"
        self.assertEqual(self.sizes(words, "blis", BLIS), [OWN, part(4), OWN])
        self.assertEqual(self.sizes("beside=4 region get", "blis", BLIS), [OWN])  # it has made no threads yet
        self.assertEqual(self.sizes(words, "openblas", BLIS), [OWN] * 3)

    def told(self, words, adjust):
        _, err = run("pools-gcc", load(OPENBLAS), *words.split(), POOL_THREADS=str(OWN), OMP_NUM_THREADS="2",
                     NIGH_ADJUST=adjust, NIGH_VERBOSE="1")
        return [line for line in err.splitlines() if "OpenBLAS " in line and "granted" not in line or "adjust" in line]

    def test_are_told(self):
        head = "nigh: pools-gcc: OpenBLAS"
        self.assertEqual(self.told("beside=1 close beside=4 close", "openblas"),
                         [f"{head} followed its part of the cpus: {part(4)} to {OWN} of {OWN} threads"])
        self.assertEqual(self.told("thread close", "openblas"),
                         [f"{head} keeps its size: the program makes threads of its own"])
        self.assertEqual(self.told("beside=4 close", "none"), [])
        self.assertEqual(self.told("", "blis,libelse"),
                         [f"nigh: pools-gcc: --adjust {name}: no such library was loaded" for name in ("blis", "libelse")])


class WithNighd(shim_test.WithNighd):
    def test_a_program_without_regions_is_served(self):
        self.start()
        settings = {"POOL_THREADS": str(OWN), "NIGH_ADJUST": "openblas"}
        self.assertEqual(self.run_here("pools-gcc", load(OPENBLAS), "close", "get", **settings), (f"{OWN}\n", ""))
        started = self.begin(*("line", "close", "get") * 5000)
        for _ in range(1000):
            self.assertEqual(self.next_size(started), OWN)
            with open(os.path.join(self.folder.name, "log"), encoding="utf-8") as log:
                if 'event="program came"' in log.read():
                    return
            time.sleep(0.01)
        self.fail("the coordinator never hears of it")

    def begin(self, *words):
        variables = dict(QUIET, LD_PRELOAD=SHIM, NIGH_SOCKET=self.socket, POOL_THREADS=str(OWN), NIGH_ADJUST="all")
        started = subprocess.Popen([program("pools-gcc"), load(OPENBLAS), *words], env=variables, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(started.communicate)
        return started

    def next_size(self, started):
        started.stdin.write("\n")
        started.stdin.flush()
        return int(started.stdout.readline())

    def wait_for(self, size, started):
        for _ in range(1000):
            if self.next_size(started) == size:
                return
            time.sleep(0.01)
        self.fail(f"its size never is {size}")

    def test_programs_that_come_and_go_and_a_coordinator_that_dies(self):
        self.start()
        first = self.begin(*("line", "close", "get") * 5000)
        self.assertEqual(self.next_size(first), OWN)
        second = self.begin("line", "close", "get", "line")
        self.wait_for(part(2), first)
        self.assertEqual(self.next_size(second), part(2))
        second.communicate()
        self.wait_for(OWN, first)
        third = self.begin("line", "close", "get", "line")
        self.wait_for(part(2), first)
        self.stop(signal.SIGKILL)
        self.assertEqual((self.next_size(first), self.next_size(third)), (OWN, OWN))

    def test_without_a_coordinator_all_stays(self):
        words = [load(OPENBLAS), "close", "get", "region", "get"]
        self.assertEqual(self.run_here("pools-gcc", *words, POOL_THREADS="7", NIGH_ADJUST="openblas"), ("7\n7\n", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
