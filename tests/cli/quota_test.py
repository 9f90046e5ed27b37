#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program in a cgroup with a quota: what nigh run gives it, and what it gets from nighd.

    quota_test.py BIN WORKERS [REGIONS]

BIN holds nigh and nighd; WORKERS is where/nigh.cpp, which prints a line for each worker of its
runtime; REGIONS is tests/openmp/programs/regions.cpp. Numbers of threads and cpus are looked at,
never times. Where no cgroup can be made it says why, and exits with 77.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cgroup  # noqa: E402

BIN = pathlib.Path(sys.argv[1])
CPUS = len(os.sched_getaffinity(0))
OURS = {"OMP_NUM_THREADS", "RAYON_NUM_THREADS", "NIGH_WORKERS", "NIGH_SOCKET", "NIGH_COORDINATOR",
        "OMP_DYNAMIC", "OPENBLAS_NUM_THREADS"}
LONG = 120  # seconds; a test that hangs has failed


def environment(**more):
    plain = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**plain, **more}


def run(group, *words, **more):
    done = subprocess.run([str(word) for word in words], preexec_fn=group.enter,
                          env=environment(**more), capture_output=True, text=True, check=False,
                          timeout=LONG)
    assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
    return done


def nigh(group, *words, **more):
    return run(group, BIN / "nigh", *words, **more)


def threads_seen(group, *options, **more):
    return nigh(group, "run", "--no-coordinator", *options, "--", "sh", "-c",
                "echo $OMP_NUM_THREADS $RAYON_NUM_THREADS", **more).stdout.split()


class Quota(unittest.TestCase):
    def test_pools_keep_to_it(self):
        with cgroup.Group(1) as group:
            self.assertEqual(threads_seen(group), ["1", "1"] if CPUS > 1 else [])
            group.set(0.3)
            self.assertEqual(threads_seen(group), ["1", "1"] if CPUS > 1 else [])
            group.set(1.5)
            self.assertEqual(threads_seen(group), ["2", "2"] if CPUS > 2 else [])
            group.set(CPUS)
            self.assertEqual(threads_seen(group), [])
            group.set(None)
            self.assertEqual(threads_seen(group), [])

    @unittest.skipIf(CPUS < 2, "one cpu is no more than the quota")
    def test_the_users_word_stays(self):
        with cgroup.Group(1) as group:
            self.assertEqual(threads_seen(group, OMP_NUM_THREADS="2"), ["2", "1"])
            self.assertEqual(threads_seen(group, "--threads", "2"), ["2", "1"])
            told = nigh(group, "run", "--dry-run", "--no-coordinator", "--threads", "2", "true")
            self.assertIn("# OMP_NUM_THREADS=2 stays as asked for", told.stdout)

    def test_runtimes_keep_to_it(self):
        with cgroup.Group(1) as group:
            def workers(**more):
                return run(group, sys.argv[2], **more).stdout.count("thread ")
            self.assertEqual(workers(), 1)
            group.set(None)
            self.assertEqual(workers(), CPUS)

    @staticmethod
    def workers(enter, number):
        """(workers, what it said) of a runtime that is asked for so many, after enter()."""
        done = subprocess.run([sys.argv[2]], preexec_fn=enter, env=environment(NIGH_WORKERS=number),
                              capture_output=True, text=True, check=False, timeout=LONG)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout.count("thread "), done.stderr

    @unittest.skipIf(CPUS < 2, "one cpu is no more than the quota")
    def test_a_number_beyond_it_is_held_to_it(self):
        with cgroup.Group(1) as group:
            self.assertEqual(self.workers(group.enter, "16"),
                             (1, "nigh: NIGH_WORKERS=16, but the quota of the cgroup has time for 1 cpu: 1 worker; "
                                 "NIGH_WORKERS=16:oversubscribe has them take turns\n"))
            self.assertEqual(self.workers(group.enter, f"{CPUS + 3}:oversubscribe"),
                             (CPUS + 3, f"nigh: NIGH_WORKERS={CPUS + 3}: {CPUS + 3} workers on {CPUS} cpus take turns\n"))
            self.assertEqual(self.workers(group.enter, "1"), (1, ""))

    def test_a_number_beyond_a_whole_machine_is_met(self):
        if os.cpu_count() != CPUS:
            self.skipTest("this process may not use all cpus")
        with cgroup.Group(None) as group:
            self.assertEqual(self.workers(group.enter, str(CPUS + 3)),
                             (CPUS + 3, f"nigh: NIGH_WORKERS={CPUS + 3}: {CPUS + 3} workers on {CPUS} "
                                        f"cpu{'s' * (CPUS > 1)} take turns\n"))

    @unittest.skipIf(CPUS < 2, "there is one cpu")
    def test_a_number_beyond_the_cpus_of_a_process_is_held_to_them(self):
        first = min(os.sched_getaffinity(0))
        held, said = self.workers(lambda: os.sched_setaffinity(0, {first}), "16")
        self.assertEqual(held, 1)
        self.assertRegex(said, r"^nigh: NIGH_WORKERS=16, but this process may use 1 cpu of \d+: 1 worker; "
                               r"NIGH_WORKERS=16:oversubscribe has them take turns\n$")
        held, said = self.workers(lambda: os.sched_setaffinity(0, {first}), "16:oversubscribe")
        self.assertEqual((held, said), (16, "nigh: NIGH_WORKERS=16: 16 workers on 1 cpu take turns\n"))

    @unittest.skipIf(CPUS < 2, "one cpu is no more than the quota")
    def test_doctor_tells(self):
        with cgroup.Group(1) as group:
            told = json.loads(nigh(group, "doctor", "--json").stdout)
        self.assertEqual(told["facts"]["cpu_quota"], 1)
        self.assertIn("cpu-quota", [finding["id"] for finding in told["findings"]])

    @unittest.skipIf(CPUS < 2, "one cpu is no more than the quota")
    @unittest.skipIf(len(sys.argv) < 4, "there is no program with OpenMP")
    def test_teams_of_the_coordinator_keep_to_it(self):
        with tempfile.TemporaryDirectory() as folder, cgroup.Group(1) as group:
            socket = folder + "/nighd.sock"
            with subprocess.Popen([BIN / "nighd", "--socket", socket], env=environment()) as nighd:
                try:
                    until(lambda: os.path.exists(socket))
                    self.watch_a_program(group, socket)
                finally:
                    nighd.terminate()

    # How many cpus it holds depends on what else the host does; with the quota it is one at most.
    def watch_a_program(self, group, socket):
        group.set(None)
        there = environment(NIGH_SOCKET=socket)
        words = [BIN / "nigh", "run", "--", sys.argv[3], "100000000"]
        with subprocess.Popen(words, preexec_fn=group.enter, stdout=subprocess.DEVNULL,
                              env=there) as program:
            def seen():
                status = subprocess.run([BIN / "nigh", "status", "--json"], capture_output=True,
                                        env=there, check=True, text=True, timeout=LONG)
                return json.loads(status.stdout)["programs"]
            try:
                until(lambda: any(p["cpus"] > 0 for p in seen()))
                self.assertNotIn("quota_cpus", seen()[0])
                group.set(1)
                until(lambda: [p["cpus"] for p in seen()] == [1])
                self.assertEqual(seen()[0]["quota_cpus"], 1)
                text = subprocess.run([BIN / "nigh", "status"], capture_output=True, check=True,
                                      env=there, text=True, timeout=LONG).stdout
                self.assertIn(f"quota: 1 cpu for PID {program.pid} (", text)
                group.set(None)
                until(lambda: "quota_cpus" not in seen()[0])
            finally:
                program.kill()


def until(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


if __name__ == "__main__":
    try:
        with cgroup.Group(1):
            facts = subprocess.run([BIN / "nigh", "doctor", "--json"], capture_output=True,
                                   check=True, timeout=LONG).stdout
    except cgroup.NoCgroup as why:
        print(f"skipped: cannot make a cgroup: {why}")
        sys.exit(cgroup.CANNOT)
    if json.loads(facts)["facts"]["cpu_quota"] is not None:
        print("skipped: this test itself runs under a quota")
        sys.exit(cgroup.CANNOT)
    unittest.main(argv=[sys.argv[0], "-v"])
