#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh bench cluster --losses and --supervised: bench_losses_test.py FOLDER, that of the drivers. Skipped (77) where they were
built without Open MPI 5."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

DRIVERS = sys.argv.pop(1)


def run(*args):
    words = [os.path.join(DRIVERS, "nigh-bench-cluster"), "--quick", *args]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


class Losses(unittest.TestCase):
    def lines(self, *args):
        done = run(*args, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {line["variant"]: line for line in map(json.loads, done.stdout.splitlines())}

    def test_kills(self):
        lines = self.lines("--losses", "--kill-every=0.5")
        self.assertEqual(set(lines), {"nigh/noticed", "nigh/noticed-by-all", "nigh/begun-again", "nigh/whole", "nigh/job-1"})
        self.assertEqual(len(lines["nigh/noticed-by-all"]["samples"]), 2)
        # Rank 0 is the first to be killed, and the root task begins anew.
        self.assertTrue(lines["nigh/job-1"]["params"]["killed"].startswith("0,"), lines)
        self.assertGreater(min(lines["nigh/begun-again"]["samples"]), 0)
        for name in "nigh/whole", "nigh/job-1":
            self.assertIs(lines[name]["verified"], True, name)
            self.assertGreater(lines[name]["counters"]["solved"], 0)
            self.assertGreater(sum(lines[name]["samples"]), 0)

    def test_kills_with_a_grid(self):
        lines = self.lines("--losses", "--kill-every=0.5", "--only=jacobi:200x20")
        for name in "nigh/whole", "nigh/job-1":
            self.assertIs(lines[name]["verified"], True, name)
            self.assertEqual((lines[name]["unit"], lines[name]["params"]["size"]), ("cells/s", "200x20"))
        self.assertEqual(lines["nigh/whole"]["counters"]["in_vain"], 0)
        self.assertGreaterEqual(lines["nigh/job-1"]["counters"]["in_vain"], 0)
        self.assertGreater(lines["nigh/job-1"]["counters"]["speed"], 0)

    def test_kills_with_a_tree_in_parts(self):
        lines = self.lines("--losses", "--kill-every=0.5", "--only=uts-parts:T3-tiny")
        for name in "nigh/whole", "nigh/job-1":
            self.assertIs(lines[name]["verified"], True, name)
            self.assertEqual(lines[name]["params"]["problem"], "uts-parts")
        self.assertEqual(lines["nigh/whole"]["counters"]["in_vain"], 0)

    def test_supervised_beside_plain(self):
        lines = self.lines("--mpi=openmpi5", "--supervised", "--only=fib", "--policies=random+half", "--reps=1")
        self.assertEqual(list(lines), ["shared/1", "shared/2", "ranks/random+half", "ranks/random+half/supervised"])
        self.assertTrue(all(line["verified"] for line in lines.values()))

    def test_bad_input(self):
        for words in (("--mpi=openmpi", "--losses"), ("--ranks=2", "--losses"), ("--only=fib", "--losses"),
                      ("--only=uts:T9", "--losses"), ("--only=uts-parts:T9", "--losses"), ("--only=jacobi:20", "--losses"), ("--only=jacobi:10x5", "--losses"),
                      ("--only=jacobi:1000x0", "--losses"), ("--kill-every=0", "--losses"), ("--kill-every=nan", "--losses"),
                      ("--losses", "--policies=random+half"), ("--supervised", "--mpi=openmpi")):
            with self.subTest(words=words), tempfile.TemporaryDirectory() as folder:
                done = run(*words, "--json", os.path.join(folder, "r.json"))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(words[0].split("=")[0], done.stderr)
                self.assertEqual(os.listdir(folder), [])

    def test_without_programs_for_open_mpi_5(self):
        with tempfile.TemporaryDirectory() as alone:
            driver = shutil.copy(os.path.join(DRIVERS, "nigh-bench-cluster"), alone)
            for option, words in (("--losses", ["--losses"]), ("--mpi", ["--mpi=openmpi5", "--supervised"])):
                done = subprocess.run([driver, "--quick", *words], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, rf"^nigh bench cluster: {option}: this nigh has no programs for Open MPI 5\. [^\n]*faults\.md\)\n$")


if __name__ == "__main__":
    if "cluster-losses-openmpi5" not in os.listdir(DRIVERS):
        print("nigh was built without Open MPI 5")
        sys.exit(77)
    unittest.main()
