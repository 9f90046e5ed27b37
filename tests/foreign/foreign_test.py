#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that others wrote make the same under `nigh run` as without it, bit for bit: alone, beside others, four at
once, under a quota, and after a profile was learnt on a busy host.

    foreign_test.py short|full NIGH NIGHD FOLDER_OF_PROGRAMS FOLDER_OF_WHEELS [unittest arguments]

Only what two runs without nigh and with the same number of threads agree on is compared. What is not installed is
skipped, unless NIGH_REQUIRE_PROGRAMS is set. Nothing is timed."""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent))
import cgroup  # noqa: E402  (found by the line above)
from debian import SHORT, debian  # noqa: E402
from programs import QUIET  # noqa: E402
from wheels import wheels  # noqa: E402

SET = sys.argv[1]
NIGH, NIGHD, PROGRAMS, WHEELS = map(os.path.abspath, sys.argv[2:6])
# Their teams may be smaller than they ask for: src/openmp/libraries.cpp.
FREE = {"GraphicsMagick", "ImageMagick", "MUSCLE", "CD-HIT", "par2", "Tesseract"}
WHOLE = {"XGBoost"}  # its teams are never smaller, whatever the user says
STUDIED = {"CD-HIT"}  # in FREE, and quick on a host that others keep busy
DEFAULT, ONE, FOUR = {}, {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "4"}


def chosen():
    some = debian(os.path.join(PROGRAMS, "library-clang.so"))
    if SET == "short":
        return {name: some[name] for name in SHORT}
    return {**some, **wheels(WHEELS)}


class Plain:
    """What programs make without nigh."""

    def __init__(self, programs):
        self.programs, self.known, self.lock = programs, {}, threading.Lock()

    def made(self, name, threads):
        """{file: hash}, or None where two runs do not agree or fail."""
        key = (name, *threads.values())
        with self.lock:  # one after the other: fewer threads on the host, and each key is made once
            if key not in self.known:
                try:
                    first, second = (self.programs[name].run(environment=threads)[0] for _ in range(2))
                except AssertionError:
                    if not threads:
                        raise
                    first, second = None, {}  # it does not like the number
                self.known[key] = first if first == second else None
                if first != second:
                    print(f"{name} {threads}: not judged, two runs without nigh differ", file=sys.stderr)
            return self.known[key]

    def varies(self, name, threads):
        """Whether it makes something else now and then: two runs may agree by chance."""
        expected = self.made(name, threads)
        with self.lock:
            for _ in range(20):
                if self.programs[name].run(environment=threads)[0] != expected:
                    self.known[name, *threads.values()] = None
                    print(f"{name} {threads}: not judged, runs without nigh differ", file=sys.stderr)
                    return True
        return False


class Coordinator:
    """A nighd of the test's own, for the length of a with."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "nighd.sock")
        self.profiles = os.path.join(self.folder.name, "profiles")

    def __enter__(self):
        self.start()
        return self

    def start(self):
        self.daemon = subprocess.Popen(
            [NIGHD, "--foreground", "--socket", self.socket, "--slice", "1", "--profiles", self.profiles], env=QUIET,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            if self.daemon.poll() is not None:
                raise AssertionError("nighd has ended")
            time.sleep(0.01)

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait()

    def start_again(self):
        """With what is kept, and nothing else."""
        self.stop()
        self.start()

    def kept_regions(self):
        """How many of them the profiles of programs have."""
        profiles = [json.loads(file.read_text()) for file in pathlib.Path(self.profiles).glob("*.json")]
        return sum(len(profile["regions"]) for profile in profiles)

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class BusyHost:
    """A process for each cpu that does nothing else than to use it."""

    def __enter__(self):
        self.all = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]

    def __exit__(self, *_):
        for process in self.all:
            process.kill()
            process.wait()


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        programs = chosen()
        missing = {name: p.missing() for name, p in programs.items() if p.missing()}
        if missing and os.environ.get("NIGH_REQUIRE_PROGRAMS"):
            raise AssertionError(f"not installed: {missing}")
        if missing:
            print(f"not installed, and skipped: {missing}", file=sys.stderr)
        cls.here = {name: p for name, p in programs.items() if name not in missing}
        if not cls.here:
            raise unittest.SkipTest("none of the programs is installed")
        cls.plain = Plain(cls.here)

    def setUp(self):
        self.coordinator = self.enterContext(Coordinator())

    def run_one(self, name, threads, around=()):
        """What it made under nigh, and what both said."""
        return self.here[name].run([*around, NIGH, "run", "--"], {
            **threads, "NIGH_SOCKET": self.coordinator.socket, "NIGH_VERBOSE": "1"})

    def check(self, name, threads, around=(), as_with=()):
        """It made what it makes without nigh and with that number of threads, or with one of these others."""
        expected = [self.plain.made(name, number) for number in (threads, *as_with)]
        made, said = self.run_one(name, threads, around)
        if None not in expected and made not in expected and not self.plain.varies(name, threads):
            self.fail(f"{name} {threads}: made {made} instead of {expected}\n{said[-1000:]}")
        return said

    def check_all(self, names, at_once):
        """So many at once; what failed is told when all have ended."""
        for name in names:
            self.plain.made(name, DEFAULT)  # while nobody else runs
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            waiting = [(name, pool.submit(self.check, name, DEFAULT)) for name in names]
        for name, job in waiting:
            with self.subTest(name=name):
                job.result()

    def test_alone(self):
        for name in self.here:
            for threads in DEFAULT, FOUR:
                with self.subTest(name=name, threads=threads):
                    said = self.check(name, threads)
                    told = re.search(r"^nigh: .*: [1-9]\d* regions?.*", said, re.MULTILINE)
                    print(f"{name}: {told[0] if told else 'no regions'}", file=sys.stderr)
                    if name in SHORT:  # others may have pools of their own
                        self.assertIsNotNone(told, f"nigh had no part in it, and said: {said}")

    def test_with_smaller_teams(self):
        for name in sorted(FREE.intersection(self.here)):
            expected = self.plain.made(name, FOUR)
            for team in range(1, min(2, len(os.sched_getaffinity(0))) + 1):
                with self.subTest(name=name, team=team):
                    made, said = self.run_one(name, {**FOUR, "NIGH_OPENMP_TEAM": str(team)})
                    if expected is not None:
                        self.assertEqual(made, expected, said[-1000:])

    def test_with_whole_teams_where_smaller_ones_go_wrong(self):
        for name in sorted(WHOLE.intersection(self.here)):
            expected = self.plain.made(name, FOUR)
            for adjust in "all", "nests":
                with self.subTest(name=name, adjust=adjust):
                    made, said = self.run_one(name, {**FOUR, "NIGH_OPENMP_TEAM": "1", "NIGH_ADJUST": adjust})
                    if expected is not None:
                        self.assertEqual(made, expected, said[-1000:])

    def test_beside_others(self):
        names = list(self.here) * 2
        random.Random(3).shuffle(names)
        self.check_all(names, 3)

    def test_four_at_once(self):
        for name in self.here:
            self.check_all([name] * 4, 4)

    def test_under_a_quota(self):
        """Of one cpu: the program may be told that there are no more. A number that it is given stays."""
        try:
            group = self.enterContext(cgroup.Group(1, "nigh-foreign"))
        except cgroup.NoCgroup as why:
            self.skipTest(f"no cgroup can be made: {why}")
        around = ["sh", "-c", f'echo $$ >"{group.folder}/cgroup.procs" && exec "$@"', "sh"]
        for name in self.here:
            with self.subTest(name=name):
                self.check(name, DEFAULT, around, as_with=[ONE])
            with self.subTest(name=name, threads=FOUR):
                self.check(name, FOUR, around)

    def test_after_a_profile_was_learnt_on_a_busy_host(self):
        for name in self.here:
            self.plain.made(name, DEFAULT)
        with BusyHost():
            for name in self.here:
                for _ in range(3):
                    with self.subTest(name=name, host="busy"):
                        self.check(name, DEFAULT)
            # nighd itself keeps nothing from such a host; a user may.
            for name in sorted(STUDIED.intersection(self.here)):
                before = self.coordinator.kept_regions()
                self.here[name].run([NIGH, "profile", "--keep", "--repetitions", "1", "--"],
                                    {"NIGH_PROFILES": self.coordinator.profiles})
                self.assertGreater(self.coordinator.kept_regions(), before, name)
        self.coordinator.start_again()
        for name in self.here:
            with self.subTest(name=name, host="as it was"):
                self.check(name, DEFAULT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
