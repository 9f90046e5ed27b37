#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian that use OpenMP say the same under `nigh run`, alone and beside others, as
without it: debian_programs_test.py NIGH NIGHD FOLDER_OF_PROGRAMS [unittest arguments]. What is not
installed is skipped, unless NIGH_REQUIRE_PROGRAMS is set."""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

NIGH, NIGHD, PROGRAMS = map(os.path.abspath, sys.argv[1:4])
SCRIPTS = pathlib.Path(__file__).resolve().parent / "debian"
PYTHON = "/usr/bin/python3"  # Debian's, for its packages
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_", "PYTHON"))}


def sequences(count, length, letters):
    """A family of them, as FASTA: each is one of the last twenty with some letters changed."""
    r = random.Random(2)
    family = [[r.choice(letters) for _ in range(length)]]
    while len(family) < count:
        family.append([r.choice(letters) if r.random() < 0.05 else old for old in r.choice(family[-20:])])
    return "".join(f">s{i}\n{''.join(s)}\n" for i, s in enumerate(family)).encode()


def image(width, height):
    r = random.Random(1)
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(
        value for y in range(height) for x in range(width)
        for value in ((x * 7 ^ y * 3) & 255, x * y >> 4 & 255, r.randrange(256)))


WATER = b"""#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
DYNAMICS = b"""integrator = md
nsteps = 50
dt = 0.001
nstenergy = 10
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
gen-vel = yes
gen-seed = 1
"""
CLANG = os.path.join(PROGRAMS, "library-clang.so")


class Program:
    """A command, run in a folder of its own; what it makes is its output and these files."""

    def __init__(self, words, inputs=None, before=(), files=(), prints=True, environment=None, needs=()):
        self.words, self.inputs, self.before, self.files = words, inputs or {}, before, files
        self.prints, self.environment, self.needs = prints, environment or {}, needs

    def missing(self):
        return [w for w in (self.words[0], *self.needs) if shutil.which(w) is None and not os.path.exists(w)]

    def run(self, around=(), environment=None):
        """What it made, and what it said on standard error."""
        variables = {**QUIET, **self.environment, **(environment or {})}
        with tempfile.TemporaryDirectory() as folder:
            for name, content in self.inputs.items():
                pathlib.Path(folder, name).write_bytes(content)
            for words in self.before:
                subprocess.run(words, cwd=folder, env=QUIET, check=True, capture_output=True, timeout=300)
            done = subprocess.run([*around, *self.words], cwd=folder, env=variables, capture_output=True,
                                  timeout=300, check=False)
            if done.returncode != 0:
                raise AssertionError(f"{self.words}: {done.returncode}\n{done.stderr.decode()[-2000:]}")
            made = {"output": done.stdout} if self.prints else {}
            for pattern in self.files:
                found = sorted(pathlib.Path(folder).glob(pattern))
                assert found, f"{self.words} made no {pattern}"
                made.update((f.name, f.read_bytes()) for f in found)
            return made, done.stderr.decode(errors="replace")


SOME = {
    "GraphicsMagick": Program(
        ["gm", "convert", "in.ppm", "-blur", "0x5", "-sharpen", "0x2", "-median", "2", "-resize", "150%",
         "-modulate", "110,90,120", "-equalize", "-emboss", "1", "-swirl", "90", "out.ppm"],
        {"in.ppm": image(400, 300)}, files=["out.ppm"]),
    "ImageMagick": Program(
        ["convert-im6.q16", "in.ppm", "-resize", "300%", "-charcoal", "2", "out.ppm"],
        {"in.ppm": image(400, 300)}, files=["out.ppm"]),
    "FastTreeMP": Program(["fasttreeMP", "-quiet", "-nt", "in.fa"], {"in.fa": sequences(200, 300, "ACGT")}),
    "Clustal Omega": Program(
        ["clustalo", "-i", "in.fa", "--iter=1", "--threads=2"],
        {"in.fa": sequences(80, 150, "ACDEFGHIKLMNPQRSTVWY")}),
    "MUSCLE": Program(["muscle", "-align", "in.fa", "-output", "out.fa"],
                      {"in.fa": sequences(16, 150, "ACDEFGHIKLMNPQRSTVWY")}, files=["out.fa"]),
    "CD-HIT": Program(["cd-hit-est", "-i", "in.fa", "-o", "out", "-T", "0"],
                      {"in.fa": sequences(300, 400, "ACGT")}, files=["out", "out.clstr"], prints=False),
    "par2": Program(["par2", "create", "-q", "-r20", "data"], {"data": image(600, 600)}, files=["*.par2"]),
    "Tesseract": Program(
        ["tesseract", "text.png", "-"], needs=["gm", FONT],
        before=[["gm", "convert", "-size", "700x200", "xc:white", "-font", FONT, "-pointsize", "32",
                 "-draw", 'text 20,60 "The quick brown fox jumps"', "text.png"]]),
    "GROMACS": Program(
        ["gmx", "-quiet", "mdrun", "-s", "in.tpr", "-deffnm", "out", "-ntmpi", "1", "-reprod", "-pin", "off"],
        {"topol.top": WATER, "run.mdp": DYNAMICS}, files=["out.gro", "out.edr"], prints=False,
        before=[["gmx", "solvate", "-cs", "spc216", "-box", "3", "3", "3", "-o", "in.gro", "-p", "topol.top"],
                ["gmx", "grompp", "-f", "run.mdp", "-c", "in.gro", "-p", "topol.top", "-o", "in.tpr"]]),
    "numpy, OpenBLAS": Program([PYTHON, str(SCRIPTS / "blas.py")], environment={"LD_LIBRARY_PATH": OPENBLAS},
                               needs=[OPENBLAS, "/usr/lib/python3/dist-packages/numpy"]),
    "scikit-learn": Program(
        [PYTHON, str(SCRIPTS / "learn.py"), *([CLANG] if os.path.exists(CLANG) else [])],
        environment={"LD_LIBRARY_PATH": OPENBLAS},
        needs=[OPENBLAS, "/usr/lib/python3/dist-packages/sklearn"]),
}


# Whose teams may be smaller than they ask for: src/openmp/libraries.cpp.
FREE = ["GraphicsMagick", "ImageMagick", "MUSCLE", "CD-HIT", "par2", "Tesseract"]


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = {name: p.missing() for name, p in SOME.items() if p.missing()}
        if missing and os.environ.get("NIGH_REQUIRE_PROGRAMS"):
            raise AssertionError(f"not installed: {missing}")
        if missing:
            print(f"not installed, and skipped: {missing}", file=sys.stderr)
        cls.here = {name: p for name, p in SOME.items() if name not in missing}
        if not cls.here:
            raise unittest.SkipTest("none of the programs is installed")
        cls.expected = {name: p.run()[0] for name, p in cls.here.items()}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, "nighd.sock")
        self.daemon = subprocess.Popen(
            [NIGHD, "--foreground", "--socket", self.socket, "--slice", "1", "--profiles",
             os.path.join(folder.name, "profiles")], env=QUIET,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop)
        while not os.path.exists(self.socket):
            self.assertIsNone(self.daemon.poll(), "nighd has ended")
            time.sleep(0.01)

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait(timeout=100)

    def check(self, name, **environment):
        """It made what it makes, with regions on cpus that nighd granted. How many of how many."""
        made, said = self.here[name].run(
            [NIGH, "run", "--"], {"NIGH_SOCKET": self.socket, "NIGH_VERBOSE": "1", **environment})
        told = re.search(r"^nigh: .*: (\d+) regions?, (\d+) on granted cpus", said, re.MULTILINE)
        self.assertIsNotNone(told, f"{name} said: {said}")
        self.assertGreater(int(told[2]), 0, name)
        self.assertEqual(set(made), set(self.expected[name]), name)
        for file, content in made.items():
            self.assertEqual(content, self.expected[name][file], f"{name}: its {file} differs")
        print(f"{name}: {told[0]}", file=sys.stderr)
        return told[1], told[2]

    def status(self):
        done = subprocess.run([NIGH, "status", "--json"], env=dict(QUIET, NIGH_SOCKET=self.socket),
                              capture_output=True, check=True, timeout=100)
        return json.loads(done.stdout)

    def test_alone(self):
        for name in self.here:
            with self.subTest(name=name):
                regions, granted = self.check(name)
                self.assertEqual(regions, granted)

    def test_with_smaller_teams(self):
        for name in set(FREE) & set(self.here):
            for team in range(1, min(2, len(os.sched_getaffinity(0))) + 1):
                with self.subTest(name=name, team=team):
                    self.check(name, OMP_NUM_THREADS="4", NIGH_OPENMP_TEAM=str(team))

    def test_beside_two_others(self):
        jobs = list(self.here) * 2
        random.Random(3).shuffle(jobs)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(self.check, jobs))  # not all regions: nighd may be held up too long for some
        after = self.status()
        self.assertEqual((after["programs"], after["free"]), ([], after["cpus"]))
        self.assertGreaterEqual(after["grants"], len(jobs))
        self.assertGreater(after["revocations"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
