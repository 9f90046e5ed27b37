#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that anybody may have written, of eight megabytes, nested or dense:
hostile_files_test.py NIGH [--any-memory] [unittest arguments].

Each command ends by itself, with one line that says why, and has never taken more than 64 MB and
ten times the file (with --any-memory, as sanitizers need it, it may)."""
import os
import subprocess
import sys
import tempfile
import unittest

NIGH = os.path.abspath(sys.argv.pop(1))
ANY_MEMORY = "--any-memory" in sys.argv
if ANY_MEMORY:
    sys.argv.remove("--any-memory")
SIZE = 8_000_000
MAY_TAKE = 64_000_000 + 10 * SIZE
QUIET = {name: value for name, value in os.environ.items() if not name.startswith("NIGH_")}
# Runs a command and says at the end, on the last line, how many kilobytes it had at most.
WATCH = ("import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(status % 256)")


def filled(before, element, after):
    """A list of as many of these elements as SIZE allows."""
    count = (SIZE - len(before) - len(after)) // (len(element) + 1)
    return before + ",".join([element] * count) + after


def nested(before, after=""):
    return before + "[" * (SIZE // 2 - len(before)) + "]" * (SIZE // 2 - len(before)) + after


DENSE = ("0", "[]", "{}", '""', '{"":0}')
EVENT = '{"ph":"X","name":"","tid":0,"ts":0,"dur":1}'
STEAL = EVENT + ',{"ph":"i","name":"steal","tid":0,"ts":0,"args":{"victim":0}}'


class HostileFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_on(self, text, command, statuses=(1, 2), name="file", **variables):
        file = os.path.join(self.folder, name)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        words = [file if word == "FILE" else word for word in command]
        done = subprocess.run([sys.executable, "-c", WATCH, NIGH, *words], env=QUIET | variables, cwd=self.folder,
                              capture_output=True, text=True)
        *said, kilobytes = done.stderr.splitlines()
        about = f"{words} on {text[:60]}: {done.returncode} {said}"
        self.assertIn(done.returncode, statuses, about)
        if done.returncode != 0:
            self.assertGreaterEqual(len(said), 1, about)
            self.assertTrue(all(line.startswith("nigh") and len(line) < 500 for line in said), about)
        if not ANY_MEMORY:
            self.assertLessEqual(int(kilobytes) * 1024, MAY_TAKE, about)

    def test_profiles_of_regions(self):
        texts = [nested('{"nigh_region_profile":', "}")]
        texts += [filled('{"nigh_region_profile":1,"regions":[', element, "]}") for element in DENSE]
        for text in texts:
            self.run_on(text, ["profile", "show", "--json"], (0, 1), "x-27c4fd7b4eb79b1c.json",
                        NIGH_PROFILES=self.folder)

    def test_profiles_of_nigh_tune(self):
        for text in (nested('{"nigh_profile":', "}"), '{"nigh_profile":' + "[" * 20_000 + "]" * 20_000 + "}"):
            self.run_on(text, ["run", "--profile", "FILE", "--", "true"])

    def test_machines(self):
        for text in (nested('{"format":'), filled('{"format":[', "0", "]}")):
            self.run_on(text, ["sim", "run", "--machine", "FILE", "--trace", "/dev/null"])

    def test_traces(self):
        run = ["sim", "run", "--machine", "nehalem-2x4", "--policy", "near", "--seeds", "1", "--trace", "FILE"]
        after = '],"otherData":{"format":2}}'
        self.run_on(nested('{"traceEvents":[', after), run)
        for element in DENSE:
            self.run_on(filled('{"traceEvents":[', element, after), run)
        for element in (EVENT, STEAL):
            self.run_on(filled('{"traceEvents":[', element, after), run, (0,))

    def test_topologies(self):
        for element in ("<a/>", "<info/>", "<object>"):
            before = '<?xml version="1.0"?><topology version="2.0">'
            self.run_on(before + element * ((SIZE - len(before)) // len(element)), ["topo", "--xml", "FILE"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:], verbosity=2)
