#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh bench compile builds each program with each library that is here, and runs what comes out.

bench_compile_test.py FOLDER_OF_DRIVERS
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

DRIVERS = sys.argv.pop(1)


def run(*args):
    return subprocess.run([os.path.join(DRIVERS, "nigh-bench-compile"), *args], capture_output=True, text=True,
                          timeout=280, check=False)


class Compile(unittest.TestCase):
    def test_every_program_gives_its_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            figure = os.path.join(folder, "figure.svg")
            done = run("--quick", "--optimise=-O1", "--json", "-", "--plot", figure)
            self.assertIn("nigh", pathlib.Path(figure).read_text(encoding="utf-8"), done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({line["bench"] for line in lines}, {f"compile/{p}" for p in ("for", "fib", "reduce", "sort")})
        measured = {(line["bench"], line["variant"]): line for line in lines if "absent" not in line}
        for (bench, variant), line in measured.items():
            with self.subTest(bench=bench, variant=variant):
                counters = line["counters"]
                self.assertIs(line["verified"], True)
                self.assertGreater(line["median"], 0)
                self.assertGreater(counters["unstripped_bytes"], counters["stripped_bytes"])
                self.assertGreater(counters["preprocessed_lines"], 100)
        for bench in ("for", "fib", "reduce", "sort"):
            for variant in ("serial", "threads", "nigh"):
                self.assertIn((f"compile/{bench}", variant), measured)
        self.assertNotIn(("compile/fib", "std/nigh"), measured)  # the standard's algorithms do not fork
        # Lines are the same on each run: no header of nigh's brings what only a few of its users need.
        for bench, variant, most in (("for", "nigh", 30_000), ("fib", "nigh", 30_000), ("reduce", "nigh", 30_000),
                                     ("sort", "nigh", 50_000)):
            self.assertLess(measured[f"compile/{bench}", variant]["counters"]["preprocessed_lines"], most)

    def test_a_library_that_is_not_here_is_absent(self):
        done = run("--quick", "--programs=for", "--libraries=nigh,fork_union", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        other = [json.loads(line) for line in done.stdout.splitlines()][1]
        self.assertEqual(other["variant"], "fork_union")
        if "absent" in other:
            self.assertIn("fork_union.hpp", other["absent"])
            self.assertIn("absent", done.stderr)

    def test_a_wrong_program_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "omp.h").write_text("", encoding="utf-8")
            pathlib.Path(folder, "cstdio").write_text('#include <stdio.h>\n#define printf(...) puts("no")\n'
                                                      "namespace std { using ::puts; }\n", encoding="utf-8")
            done = run("--quick", "--programs=for", "--libraries=serial", "--include", folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("a program prints a wrong answer", done.stderr)

    def test_words_that_are_not_there(self):
        for option, value in (("--programs", "for,while"), ("--libraries", "nigh,"), ("--compilers", "no-such-compiler"),
                              ("--optimise", "fast"), ("--include", "/nonexistent"), ("--repetitions", "0")):
            with self.subTest(option=option):
                done = run("--quick", f"{option}={value}")
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
                self.assertTrue(done.stderr.startswith("nigh bench compile: "), done.stderr)
                self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
