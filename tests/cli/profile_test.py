#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studies of real programs with teams of one and of two, and what people see of them:
profile_test.py NIGH NIGHD FOLDER_OF_OPENMP_PROGRAMS [unittest arguments]. What was not built is skipped."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

NIGH, NIGHD, PROGRAMS = map(os.path.abspath, sys.argv[1:4])
SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "openmp/programs/regions.cpp")
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}


def line_of(function):
    """Where the parallel region of that function is."""
    with open(SOURCE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = lines.index(f"void {function}() {{")
    return next(n for n in range(start, len(lines)) if "omp parallel" in lines[n]) + 1


class Profiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = dict(QUIET, NIGH_PROFILES=os.path.join(self.folder, "profiles"),
                                NIGH_SOCKET=os.path.join(self.folder, "nighd.sock"))

    def each(self):
        for name in ("regions-gcc", "regions-clang"):
            path = os.path.join(PROGRAMS, name)
            if os.path.exists(path):
                with self.subTest(program=name):
                    yield path

    def nigh(self, *words, status=0):
        done = subprocess.run([NIGH, *words], env=self.environment, capture_output=True, text=True,
                              timeout=200, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def kept(self, program):
        return {region["where"]: region
                for region in json.loads(self.nigh("profile", "show", program, "--json")[0])["profiles"][0]["regions"]}

    # clang's region begins at the directive or behind it.
    def assert_line(self, where, function):
        self.assertRegex(where, r"^regions\.cpp:\d+$")
        self.assertIn(int(where.split(":")[1]) - line_of(function), (0, 1), where)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cpus")
class Study(Profiles):
    def test_every_region_with_every_size(self):
        for program in self.each():
            results = os.path.join(self.folder, "results.json")
            table, said = self.nigh("profile", "--threads", "1..2", "--repetitions", "2", "--keep", "--output", results, "--",
                                    program, "5")
            self.assertIn(f"4 runs of {program}, 2 sizes of teams\n", said)
            self.assertRegex(said, r"kept in \S*/profiles/regions-\w+-[0-9a-f]{16}\.json; nighd uses it")
            with open(results, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            seen = {}
            for line in lines:
                self.assertEqual(line["bench"], "profile")
                self.assertLessEqual(line["min"], line["median"])
                self.assertLessEqual(line["median"], line["max"])
                if "region" in line["params"]:
                    seen.setdefault(line["params"]["function"].split("::")[-1], []).append(line)
            self.assertEqual(set(seen), {"scaling", "flat", "clause", "nested"})
            for function, mine in seen.items():
                self.assert_line(mine[0]["variant"], function)
                self.assertIn(mine[0]["variant"], table)
                sizes = [line["params"]["threads"] for line in mine]
                self.assertEqual(sizes, [3] if function == "clause" else [1, 2])
                for line in mine:
                    runs = len(line["samples"])
                    self.assertEqual(runs, 4 if function == "clause" else 2)
                    self.assertEqual(line["counters"]["runs"], 5 * runs)
            counts = seen["scaling"][0]["counters"]
            self.assertLessEqual(1, counts["optimal"])
            self.assertLessEqual(counts["optimal"], counts["maximum"])
            self.assertNotIn("maximum", seen["clause"][0]["counters"])

    def test_a_clause_of_all_threads_follows_the_team(self):
        for name in ("clauses-gcc", "clauses-clang"):
            program = os.path.join(PROGRAMS, name)
            if not os.path.exists(program):
                continue
            study = ("profile", "--threads", "1,2", "--repetitions", "1", "--no-keep", "--")
            table, _ = self.nigh(*study, program)
            self.assertNotRegex(table, r"fixed\n")
            self.assertRegex(table, r"speedup +1\.00 +\d")
            _, said = self.nigh(*study, program, "alone", status=1)
            self.assertIn(f"{program} begins no parallel regions with teams of 1, but some with teams of 2: "
                          "--threads 2 leaves that size out", said)
            one = str(min(os.sched_getaffinity(0)))
            _, said = self.nigh(*study, "taskset", "-c", one, program, status=1)
            self.assertIn("a process of taskset may use fewer than 2 cpus; ranks of mpirun may use all with --bind-to none",
                          said)

    def test_counts_are_kept_though_nobody_reads_the_table(self):
        for program in self.each():
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([NIGH, "profile", "--threads", "1,2", "--repetitions", "1", "--keep", "--", program, "1"],
                                  env=self.environment, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=200, check=False)
            os.close(writer)
            self.assertIn("nigh: cannot write standard output: Broken pipe", done.stderr)
            self.assertEqual(len(self.kept(os.path.basename(program))), 3)

    def test_what_is_kept_is_shown_set_and_forgotten(self):
        for program in self.each():
            name = os.path.basename(program)
            self.nigh("profile", "--threads", "1,2", "--repetitions", "1", "--keep", "--", program, "1")
            regions = self.kept(name)
            self.assertEqual({region["source"] for region in regions.values()}, {"measured"})
            self.assertEqual(len(regions), 3)
            self.assertEqual([t["threads"] for t in next(iter(regions.values()))["times"]], [1, 2])
            where = next(where for where in regions if int(where.split(":")[1]) - line_of("flat") in (0, 1))
            self.nigh("profile", "set", name, where, "--maximum", "7", "--optimal", "5")
            given = self.kept(program)[where]
            self.assertEqual((given["source"], given["maximum"], given["optimal"]), ("given", 7, 5))
            self.assertEqual(given["id"], regions[where]["id"])
            # Another study leaves it alone.
            self.nigh("profile", "--threads", "1,2", "--repetitions", "1", "--keep", "--", program, "1")
            self.assertEqual(self.kept(name)[where], given)
            self.nigh("profile", "forget", name, where)
            self.assertNotIn(where, self.kept(name))
            self.nigh("profile", "forget", program)
            self.nigh("profile", "show", name, status=1)

    def test_a_measured_profile_outlives_single_runs(self):
        for program in self.each():
            single = ("profile", "--threads", "1,2", "--repetitions", "1")
            _, said = self.nigh(*single, "--", program, "1")
            self.assertIn("single runs: how steady the times are is not known", said)
            self.assertIn("kept in ", said)  # nothing was measured before
            before = self.kept(program)
            _, said = self.nigh(*single, "--", program, "2")
            self.assertRegex(said, r"the measured profile in \S+ stays: this study is of single runs; --keep replaces it")
            self.assertEqual(self.kept(program), before)
            _, said = self.nigh(*single, "--keep", "--", program, "2")
            self.assertIn("kept in ", said)
            self.assertNotEqual(self.kept(program), before)
            self.nigh("profile", "forget", program)

    def test_programs_behind_a_script(self):
        for program in self.each():
            table, _ = self.nigh("profile", "--threads", "1,2", "--repetitions", "1", "--keep", "--", "sh", "-c",
                                 f"'{program}' 1; '{program}' 1")
            self.assertIn("regions.cpp:", table)
            self.assertEqual(len(self.kept(program)), 3)

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(NIGH), "../libexec/nigh/plots/profile.py")),
                         "needs the scripts that draw, which come with the benchmarks")
    @unittest.skipIf(subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=False,
                                    capture_output=True).returncode != 0, "needs matplotlib")
    def test_figure(self):
        for program in self.each():
            figure = os.path.join(self.folder, "figure.svg")
            self.nigh("profile", "--threads", "1,2", "--repetitions", "1", "--no-keep", "--figure", figure, "--",
                      program, "1")
            with open(figure, encoding="utf-8") as file:
                drawn = file.read()
            for text in ("optimal threads", "maximum threads", "ideal", "scaling"):
                self.assertIn(text, drawn)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "profiles")))

    def begun(self, program, repetitions, ignored=None):
        """A study of it, in whose first run we are."""
        ignore = (lambda: signal.signal(ignored, signal.SIG_IGN)) if ignored else None
        study = subprocess.Popen([NIGH, "profile", "--repetitions", str(repetitions), "--", program, "1"],
                                 env=dict(self.environment, TMPDIR=self.folder), preexec_fn=ignore,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("runs of", study.stderr.readline())
        return study

    def test_interrupted(self):
        for program in self.each():
            for number in (signal.SIGINT, signal.SIGQUIT):
                study = self.begun(program, 1000)
                study.send_signal(number)
                out, err = study.communicate(timeout=100)
                self.assertEqual((out, study.returncode), ("", 128 + number))
                self.assertIn("interrupted: nothing is written", err)
                self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("nigh-")], [])

    def test_under_nohup_it_goes_on(self):
        for program in self.each():
            study = self.begun(program, 1, ignored=signal.SIGHUP)
            study.send_signal(signal.SIGHUP)
            _, err = study.communicate(timeout=100)
            self.assertEqual(study.returncode, 0, err)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cpus: a thread that would be alone asks for none")
class Scripts(Profiles):
    def shown(self):
        done = subprocess.run([NIGH, "profile", "show", "--json"], env=self.environment, capture_output=True, text=True,
                              timeout=100, check=True)
        return json.loads(done.stdout)["profiles"]

    # A program that is called as an interpreter is taken for one; its script is the word that says how long it runs.
    def test_each_has_its_profile(self):
        daemon = subprocess.Popen([NIGHD, "--foreground", "--socket", self.environment["NIGH_SOCKET"]],
                                  env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        for program in self.each():
            python = os.path.join(self.folder, "python3")
            shutil.copy(program, python)
            for script in ("300", "301"):
                with open(os.path.join(self.folder, script), "w", encoding="utf-8") as file:
                    file.write("pass\n")
                subprocess.run([NIGH, "run", "--", python, script], env=self.environment, cwd=self.folder, check=True,
                               timeout=200, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            scripts = {os.path.join(self.folder, script) for script in ("300", "301")}
            for _ in range(1000):  # it is written when the program has left
                mine = [p for p in self.shown() if p.get("interpreter") == python]
                if len(mine) >= 2:
                    break
                time.sleep(0.1)
            self.assertEqual({p["path"] for p in mine}, scripts)
            self.assertEqual(len({p["binary"] for p in mine}), 2)
            self.assertEqual([p for p in self.shown() if p["program"] == "python3"], [])
            for p in mine:
                self.nigh("profile", "forget", p["path"])


class Status(Profiles):
    def test_names_the_line(self):
        daemon = subprocess.Popen([NIGHD, "--foreground", "--socket", self.environment["NIGH_SOCKET"]],
                                  env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        for program in self.each():
            waiting = subprocess.Popen([NIGH, "run", "--", program, "0", "wait"], env=self.environment,
                                       stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            try:
                region = "-"
                for _ in range(2000):
                    shown = subprocess.run([NIGH, "status"], env=self.environment, capture_output=True, text=True,
                                           check=False, timeout=100).stdout
                    mine = re.findall(rf"^ *{waiting.pid} .* (\S+)$", shown, re.MULTILINE)
                    if mine and mine[0] != "-":
                        region = mine[0]
                        break
                    time.sleep(0.01)
                # A thread that would be alone asks for no cpus.
                if len(os.sched_getaffinity(0)) > 1:
                    self.assert_line(region, "waiting")
            finally:
                waiting.communicate(timeout=100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
