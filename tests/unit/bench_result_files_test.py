#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of results beside other files: bench_result_files_test.py FOLDER_OF_DRIVERS"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

DRIVERS = sys.argv.pop(1)


class ResultFiles(unittest.TestCase):
    def test_results_leave_other_files_and_a_log_alone(self):
        words = [os.path.join(DRIVERS, "nigh-bench-jacobi3d"), "--quick", "--grid=40x24x20", "--block=40x5x3", "--json"]
        with tempfile.TemporaryDirectory() as folder:
            log, part = os.path.join(folder, "log"), os.path.join(folder, "r.json.part")
            for file in (log, part):
                with open(file, "w", encoding="utf-8") as text:
                    text.write("precious\n")
            with open(log, "a", encoding="utf-8") as text:
                for results in (os.path.join(folder, "r.json"), "/dev/stdout"):
                    subprocess.run([*words, results], stdout=text, stderr=subprocess.DEVNULL, timeout=240, check=True)
            with open(part, encoding="utf-8") as text:
                self.assertEqual(text.read(), "precious\n")
            with open(log, encoding="utf-8") as text:
                lines = text.read().splitlines()
            self.assertEqual(lines[0], "precious")
            self.assertEqual({json.loads(line)["bench"] for line in lines if line.startswith("{")}, {"jacobi3d"})
            self.assertEqual(sorted(os.listdir(folder)), ["log", "r.json", "r.json.part"])


if __name__ == "__main__":
    unittest.main()
