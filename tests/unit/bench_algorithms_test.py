#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh bench algorithms verifies each result that it times, and compares nigh with others on each input.

bench_algorithms_test.py FOLDER_OF_DRIVERS
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
    return subprocess.run([os.path.join(DRIVERS, "nigh-bench-algorithms"), *args], capture_output=True, text=True,
                          timeout=240, check=False)


class Algorithms(unittest.TestCase):
    def test_every_result_is_verified(self):
        with tempfile.TemporaryDirectory() as folder:
            figure = os.path.join(folder, "figure.svg")
            done = run("--quick", "--json", "-", "--plot", figure)
            drawn = pathlib.Path(figure).read_text(encoding="utf-8") if done.returncode == 0 else ""
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        names = run("--list").stdout.split()
        self.assertEqual({line["bench"] for line in lines}, {f"algorithms/{name}" for name in names})
        for line in lines:
            if "absent" not in line:
                self.assertIs(line["verified"], True, (line["bench"], line["variant"], line["params"]))
        for variant in {line["variant"] for line in lines if "absent" not in line}:  # gnu_parallel: of g++ alone
            self.assertTrue(f">{variant}<" in drawn, f"{variant} is not in the figure")
        inputs = {(line["variant"], line["bench"], json.dumps(line["params"])) for line in lines}
        for _, *of_each in inputs:
            self.assertIn(("nigh", *of_each), inputs)
            self.assertIn(("std/nigh", *of_each), inputs)

    def test_words_that_are_not_there(self):
        for option, value in (("--algorithms", "sort,shuffle"), ("--types", "float"), ("--orders", "random,"),
                              ("--sizes", "10,1e3"), ("--threads", "100000")):
            with self.subTest(option=option):
                done = run("--quick", f"{option}={value}")
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
                self.assertTrue(done.stderr.startswith("nigh bench algorithms: "), done.stderr)
                self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
