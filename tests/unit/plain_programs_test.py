#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plain OpenMP programs: one line that no number of threads or processes changes; bad input is one
line on standard error that names the argument, and exit code 2.

plain_programs_test.py FOLDER_OF_PROGRAMS
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = sys.argv.pop(1)
SMALL = {"gauss": "--size=90", "mmul": "--size=100", "npb-cg": "--class=S", "npb-ep": "--class=S",
         "adi": "--size=50"}


def path(name):
    return os.path.join(PROGRAMS, name)


# More threads than cpus had better not spin.
PASSIVE = dict(os.environ, OMP_WAIT_POLICY="passive", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(words, **more):
    return subprocess.run(words, env={**PASSIVE, **more}, capture_output=True, text=True, timeout=120, check=False)


def built():
    return [name for name in SMALL if os.path.exists(path(name))]


class PlainPrograms(unittest.TestCase):
    def test_are_built(self):
        self.assertLessEqual({"gauss", "mmul", "npb-cg", "npb-ep"}, set(built()))

    def test_print_one_line_whatever_the_threads(self):
        for name in built():
            lines = set()
            for threads in ("1", "2", "5"):
                done = run([path(name), SMALL[name], "--threads", threads, "--repeat=2"])
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)
                lines.add(done.stdout)
            self.assertEqual(len(lines), 1, lines)
            self.assertRegex(lines.pop(), rf"^{name} [^\n]* verified\n$")

    def test_report_to_standard_error(self):
        done = run([path("gauss"), "--size=50", "--threads=2", "--report"])
        self.assertRegex(done.stderr, r"^threads 2\nseconds \d+\.\d+\n$")
        self.assertEqual(done.stdout.count("\n"), 1)

    def test_bad_input(self):
        for name in built():
            flag = SMALL[name].split("=", maxsplit=1)[0]
            tries = [[flag, "X"], [flag, ""], [flag, "-1"], [flag, "99999999999999999999"]]
            if name == "gauss":  # what all have in common; MPI takes its time to begin
                tries += [["--repeat", "0"], ["--threads", "0"], ["--threads", "-1"],
                          ["--threads", "100000"],
                          ["--threads", "two"], ["--fast"]]
            for words in tries:
                done = run([path(name), *words])
                self.assertEqual((done.returncode, done.stdout), (2, ""), (name, words, done.stderr))
                self.assertRegex(done.stderr, rf"^{name}: [^\n]*{words[0]}[^\n]*\n$")
            done = run([path(name), "--help"])
            self.assertEqual(done.returncode, 0)
            self.assertIn(flag, done.stdout)

    @unittest.skipUnless(os.path.exists(path("adi")) and shutil.which("mpirun"), "needs MPI")
    def test_adi_of_many_processes_is_the_serial_one(self):
        expected = run([path("adi"), "--size=41", "--serial"]).stdout
        self.assertIn(" verified\n", expected)
        for ranks in ("2", "3"):
            done = run(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, path("adi"),
                        "--size=41", "--threads=2"])
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)


TASK_PROGRAMS = glob.glob(path("task-*"))


@unittest.skipUnless(TASK_PROGRAMS, "they are not built with sanitizers")
class TaskPrograms(unittest.TestCase):
    """Those of `nigh bench openmp-tasks`, which take a size."""

    def test_bad_input(self):
        for program in TASK_PROGRAMS:
            name = os.path.basename(program)
            for word in ("--hlp", "0", "-5", "7x", "99999999999999999999"):
                done = run([program, word])
                self.assertEqual((done.returncode, done.stdout), (2, ""), (name, word))
                self.assertRegex(done.stderr, rf"^{name}: '{word}': must be [^\n]*\n$")


class Jacobi2d(unittest.TestCase):
    SMALL = ["--blocks=4", "--points=23", "--iterations=3", "--steps=2"]

    def line(self, *words, before=()):
        done = run([*before, path("jacobi2d"), *self.SMALL, *words])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^jacobi2d side 92 blocks 4 iterations 3 steps 2 checksum [0-9a-f]{16}\n$")
        return done.stdout

    def test_every_variant_prints_the_reference_line(self):
        expected = self.line("--reference")
        variants = run([path("jacobi2d"), "--list"]).stdout.splitlines()
        for name in variants:
            if "absent" not in name:
                self.assertEqual(self.line(f"--variant={name}", "--threads=1"), expected, name)
        self.assertIn("nigh/tasks", variants)

    def test_reports_to_standard_error(self):
        done = run([path("jacobi2d"), *self.SMALL, "--threads=1", "--report", "--pin"])
        self.assertRegex(done.stderr, r"^processes 1\nthreads 1\nseconds \d+\.\d+\nMLUP/s \d+\.\d\n$")

    def test_bad_input(self):
        for words in (["--blocks=0"], ["--points=-1"], ["--memory=2"], ["--sends=soon"], ["--threads=0"], ["--threads=-1"],
                      ["--spread=100000"], ["--rows=few"], ["--variant=fastest"]):
            done = run([path("jacobi2d"), *words])
            self.assertEqual((done.returncode, done.stdout), (2, ""), (words, done.stderr))
            self.assertRegex(done.stderr, rf"^jacobi2d: [^\n]*{words[0].split('=')[0]}[^\n]*\n$")

    @unittest.skipUnless(os.path.exists(path("adi")) and shutil.which("mpirun"), "needs MPI")
    def test_many_processes_are_the_whole(self):
        for sends, ranks, variant in (("early", "3", "nigh/auto"), ("late", "2", "nigh/tasks"), ("none", "2", "serial")):
            expected = self.line("--reference", f"--sends={sends}")
            together = self.line(f"--sends={sends}", f"--variant={variant}", "--threads=1",
                                 before=["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks])
            self.assertEqual(together, expected, (sends, ranks))


class ClusterTasks(unittest.TestCase):
    PROGRAMS = [name for name in ("cluster-tasks-openmpi", "cluster-tasks-mpich") if os.path.exists(path(name))]

    def test_one_rank_needs_no_launcher(self):
        for name in self.PROGRAMS:
            done = run([path(name), "--problem=nqueens", "--size=6", "--repetitions=2", "--workers=1", "--report"])
            self.assertEqual((done.returncode, done.stdout), (0, "nqueens 6 answer 4\n"), done.stderr)
            self.assertRegex(done.stderr, r"^ranks 1\nworkers 1\nseconds \d+\.\d+ \d+\.\d+\nrank 0( [a-z]+ \d+)+\n$")

    def test_bad_input(self):
        for name in self.PROGRAMS[:1]:
            for words in (["--problem=chess"], ["--size=T9"], ["--victims=all"], ["--chunks=few"], ["--chunks=fixed,33"],
                          ["--workers=0"], ["--workers=-1"],
                          ["--cutoff=-1"], ["--task-capacity=-1"], ["--queue-capacity=-1"], ["--repetitions=0"]):
                done = run([path(name), *words])
                self.assertEqual((done.returncode, done.stdout), (2, ""), (words, done.stderr))
                self.assertRegex(done.stderr, rf"^{name}: [^\n]*{words[0].split('=')[0]}[^\n]*\n$")

    def test_bad_input_to_the_stencil(self):
        for name in ("cluster-jacobi3d-openmpi", "cluster-jacobi3d-mpich"):
            if os.path.exists(path(name)):
                for words in (["--workers=0"], ["--workers=-1"], ["--side=0"], ["--sweeps=-1"]):
                    done = run([path(name), *words])
                    self.assertEqual((done.returncode, done.stdout), (2, ""), (words, done.stderr))
                    self.assertRegex(done.stderr, rf"^{name}: {words[0].split('=')[0]}: [^\n]*\n$")
                break

    @unittest.skipUnless(shutil.which("mpirun.openmpi") and os.path.exists(path("cluster-tasks-openmpi")), "needs MPI")
    def test_tells_of_more_workers_than_cpus(self):
        words = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "2", path("cluster-tasks-openmpi"),
                 "--problem=fib", "--size=5"]
        cpus = len(os.sched_getaffinity(0))
        for workers, verbose, expected in (
                (cpus, "1", rf"^nigh: cluster: {2 * cpus} workers of 2 ranks on {cpus} cpus of [^\n]+: they take turns\n$"),
                (cpus, "0", "^$"), (1, "1", "^$" if cpus > 1 else "turns")):
            done = run([*words, f"--workers={workers}"], NIGH_VERBOSE=verbose)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, expected)

    def test_bad_environment(self):
        with tempfile.NamedTemporaryFile("w") as switches:
            print("n1 left\nn2", file=switches, flush=True)
            for variable, value, complaint in (
                    ("NIGH_SWITCHES", switches.name, f"{switches.name}: line 2 is not a host's name and its switch's"),
                    ("NIGH_CLUSTER_VICTIMS", "all",
                     r"on rank 0 on [^\n]+: NIGH_CLUSTER_VICTIMS='all' is not random, ring, hierarchical or lifelines"),
                    ("NIGH_CLUSTER_CHUNKS", "fixed", r"on rank 0 on [^\n]+: NIGH_CLUSTER_CHUNKS='fixed' is not [^\n]+"),
                    ("NIGH_SWITCHES", "/nowhere", r"on rank 0 on [^\n]+: cannot read switches from /nowhere")):
                for name in self.PROGRAMS:
                    done = run([path(name), "--size=T5"], **{variable: value})
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertRegex(done.stderr, rf"^nigh: {complaint}\n$")


if __name__ == "__main__":
    unittest.main()
