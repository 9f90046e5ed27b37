#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shim does to its host, a program that knows nothing of it, beside regions: host_test.py,
with the arguments of shim_test.py."""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import shim_test
from shim_test import A, ALL, B, CPUS, QUIET, SHIM, program, run

class Host(shim_test.WithNighd):
    def came(self):
        """The processes that have joined nighd, one for each time."""
        with open(os.path.join(self.folder.name, "log"), encoding="utf-8") as log:
            return re.findall(r'event="program came" pid=(\d+)', log.read())

    def each(self, name):
        for program in (f"{name}-gcc", f"{name}-clang"):
            with self.subTest(program=program):
                yield program


class Descriptors(Host):
    """Those that a program opens are its own, whatever it closed before."""

    def test_numbers_that_were_the_shims_are_the_programs_when_it_wants_them(self):
        self.start()
        for program in self.each("descriptors"):
            for how in ("each", "range", "from", "bare", "dup2", "dup3"):
                for words in ([how], [how, "fill"]):
                    with self.subTest(words=words):
                        self.assertEqual(self.run_here(program, *words, OMP_NUM_THREADS="2")[0], "untouched\n")

    def test_it_joins_again_at_once(self):
        for program in self.each("descriptors"):
            for how in ("each", "range", "from", "bare"):
                with self.subTest(how=how):
                    self.start()
                    before = len(self.came())
                    self.run_here(program, how, OMP_NUM_THREADS="2")
                    self.stop(signal.SIGTERM)  # all lines are written
                    came = self.came()[before:]
                    self.assertGreaterEqual(len(came), 2)
                    self.assertEqual(len(set(came)), 1)

    def test_while_nighd_is_killed_and_comes_back(self):
        self.start()
        jobs = [(program, how) for program in self.each("descriptors") for how in ("each", "bare", "dup2", "from")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = [pool.submit(self.run_here, program, how, "1000", OMP_NUM_THREADS="2") for program, how in jobs]
            while not all(result.done() for result in results):
                self.stop(signal.SIGKILL)
                self.start()
                time.sleep(0.1)
            self.assertEqual({result.result()[0] for result in results}, {"untouched\n"})

    def test_of_a_daemon(self):
        self.start()
        for program in self.each("descriptors"):
            for words in (["daemon"], ["daemon", "fill"]):
                self.assertEqual(self.run_here(program, *words, OMP_NUM_THREADS="2")[0], "untouched\n")

    def test_without_a_coordinator(self):
        for program in self.each("descriptors"):
            self.assertEqual(self.run_here(program, "each", OMP_NUM_THREADS="2")[0], "untouched\n")
            self.assertEqual(run(program, "each", shim=None, OMP_NUM_THREADS="2")[0], "untouched\n")


class Children(Host):
    """Of fork(), which begin regions."""

    def test_are_programs_of_their_own(self):
        for program in self.each("children"):
            for how in ([], ["after"])[:1 if program.endswith("gcc") else 2]:
                with self.subTest(how=how):
                    self.start()
                    before = len(self.came())
                    out, err = self.run_here(program, "3", *how, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
                    self.assertEqual(out, "child 10\n" * 3 + "parent 5\n")
                    self.stop(signal.SIGTERM)
                    came = self.came()[before:]
                    self.assertEqual(len(set(came)), 4)
                    lines = sorted(err.splitlines())
                    self.assertEqual(len(lines), 4, err)
                    regions = 10 if how else 5
                    for line, wanted in zip(lines, sorted(["10"] * 3 + [str(regions)])):
                        self.assertRegex(line, rf"{program}: {wanted} regions, \d+ on granted cpus")

    def test_while_another_thread_of_their_parent_begins_regions(self):
        """gcc's: with libomp one run in five stands still without nigh, too."""
        self.start()
        self.assertEqual(self.run_here("children-gcc", "30", "beside", OMP_NUM_THREADS="2")[0], "child 10\n" * 30)

    def test_forked_inside_a_region(self):
        """For gcc's runtime the child is in its parent's region still, and nests there only if it may."""
        for program in self.each("children"):
            for member in ("0", "1"):
                for levels in ("1", "2"):
                    with self.subTest(member=member, levels=levels):
                        self.start()
                        before = len(self.came())
                        out, err = self.run_here(program, member, "inside", NIGH_VERBOSE="1", OMP_NUM_THREADS="2",
                                                 OMP_MAX_ACTIVE_LEVELS=levels)
                        self.assertEqual(out, "child 5\nparent 5\n")
                        self.stop(signal.SIGTERM)
                        is_one = not program.endswith("gcc") or levels == "2"
                        self.assertEqual(len(set(self.came()[before:])), 2 if is_one else 1)
                        regions = re.findall(rf"{program}: (\d+) regions", err)
                        self.assertEqual(sorted(regions), ["5", "6"] if is_one else ["6"], err)

    def test_that_leave_their_parents_region(self):
        """Out of a team of one, with a lease. Other teams would wait for their other members."""
        place = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, place)
        self.start()
        os.sched_setaffinity(0, {min(place)})
        out, err = self.run_here("children-gcc", "0", "inside", "returns", NIGH_VERBOSE="1", OMP_NUM_THREADS="2",
                                 NIGH_ADJUST="all")
        self.assertEqual(out, "child 10\nparent 5\n")
        self.assertRegex(err, r"(?s): 5 regions, .*: 6 regions, [1-6] on granted cpus \(1 to 1 of 1\)\n")

    def test_without_a_coordinator(self):
        for program in self.each("children"):
            self.assertEqual(self.run_here(program, "2", OMP_NUM_THREADS="2")[0], "child 10\n" * 2 + "parent 5\n")


class Endings(Host):
    """Of threads that begin regions."""

    def held(self, name):
        """Another program has all cpus, in one region."""
        environment = dict(QUIET, LD_PRELOAD=SHIM, NIGH_SOCKET=self.socket)
        holder = subprocess.Popen([shim_test.program(name), "hold"], env=environment, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)

        def end():
            holder.communicate(timeout=100)
        self.addCleanup(end)
        self.assertEqual(holder.stdout.readline(), b"holds\n")

    def test_a_thread_that_is_cancelled_at_its_first_region_ends_after_it(self):
        """gcc's, here and below: libomp is itself cancelled in the middle of a region, without nigh, too."""
        self.start()
        for _ in range(5):
            self.assertEqual(self.run_here("endings-gcc", "pending")[0],
                             "cancelled after its region 1\nanother region 1\n")

    def test_threads_that_are_cancelled_while_they_begin_regions(self):
        self.start()
        self.assertEqual(self.run_here("endings-gcc", "waiting")[0], "cancelled 20\n")

    def test_threads_that_are_cancelled_while_they_wait_for_cpus(self):
        self.start()
        self.held("endings-gcc")
        self.assertEqual(self.run_here("endings-gcc", "waiting")[0], "cancelled 20\n")

    def test_regions_in_destructors_of_a_threads_own_data(self):
        self.start()
        for program in self.each("endings"):
            for how in ([], ["twice"])[:2 if program.endswith("gcc") else 1]:
                out, err = self.run_here(program, "destructors", *how, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
                self.assertEqual(out, f"regions in destructors {160 * (1 + len(how))}\n")
                self.assertRegex(err, r": 3200 regions, ")
                self.assertNotIn("too many threads", err)


class Regions(Host):
    def test_more_than_a_first_table_holds(self):
        for program in self.each("many"):
            self.assertRegex(self.run_here(program, "8000")[0], r"^\d+\n$")


@unittest.skipIf(len(CPUS) < 2, "needs two cpus")
class Outside(Host):
    """Cpus that somebody else sets for a thread: a user, another thread, a cgroup."""

    def begin(self, name, *words, enter=None):
        """The program, after its first regions."""
        began = subprocess.Popen([program(name), *words], stdout=subprocess.PIPE, text=True, preexec_fn=enter,
                                 env={**QUIET, "LD_PRELOAD": SHIM, "NIGH_SOCKET": self.socket, "OMP_NUM_THREADS": "2"})
        self.addCleanup(began.stdout.close)
        self.assertEqual(began.stdout.readline(), "ready\n")
        return began

    def end(self, began):
        self.assertEqual(began.wait(timeout=100), 0)
        return began.stdout.read()

    # Regions after which the thread that began them is freed, and others where it stays pinned.
    EACH = [(f"outside-{kind}", spins) for kind in ("gcc", "clang") for spins in ("1000000", "1000")]

    def test_a_user_restricts_the_process(self):
        self.start()
        for name, spins in self.EACH:
            for cpu in (A, B):
                began = self.begin(name, "1500", spins)
                for thread in os.listdir(f"/proc/{began.pid}/task"):
                    os.sched_setaffinity(int(thread), {int(cpu)})
                self.assertEqual(self.end(began), f"{cpu}, told 1, region {cpu} {cpu}\n")

    def test_another_thread_binds_the_one_that_begins_regions(self):
        self.start()
        for name, spins in self.EACH:
            for _ in range(3):
                self.assertRegex(self.end(self.begin(name, "700", spins, "bind")), f"^{B}, told 1, region {B} ")

    def test_a_cpuset_grows_and_shrinks(self):
        self.start()
        root = "/sys/fs/cgroup/cpuset"  # of version 1; of version 2 it is the kernel's same mask
        if not os.access(os.path.join(root, "cpuset.cpus"), os.W_OK):
            self.skipTest("no cpuset can be made here")
        group = os.path.join(root, f"nigh-test-{os.getpid()}")

        def write(name, text, folder=group):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.mkdir(group)
        self.addCleanup(os.rmdir, group)
        with open(os.path.join(root, "cpuset.mems"), encoding="utf-8") as mems:
            write("cpuset.mems", mems.read())
        pids = []
        for name, spins in self.EACH:
            for before, after, told in ((A, ALL, 2), (ALL, B, 1)):
                write("cpuset.cpus", before)
                began = self.begin(name, "1500", spins, enter=lambda: write("cgroup.procs", str(os.getpid())))
                time.sleep(0.1)
                write("cpuset.cpus", after)
                out = self.end(began)
                with self.subTest(after=after):
                    self.assertIn(f", told {told}, region ", out)
                    # Beside other programs, the coordinator may grant one cpu of two.
                    used = set(re.split("[, ]", out.split("region ")[1].strip()))
                    self.assertLessEqual(used, {A, B} if told == 2 else {B}, out)
                if told == 2:  # one that shrinks the coordinator sees by itself
                    pids.append(str(began.pid))
        self.stop(signal.SIGTERM)  # all lines are written
        for pid in pids:
            self.assertGreaterEqual(self.came().count(pid), 2, "the coordinator has not been told")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
