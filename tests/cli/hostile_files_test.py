#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that anybody may have written, of eight megabytes, nested or dense:
hostile_files_test.py NIGH [--any-memory] [unittest arguments].

Each command ends by itself, with one line that says why, and has never taken more than 64 MB and
ten times the file (with --any-memory, as sanitizers need it, it may)."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

NIGH = os.path.abspath(sys.argv.pop(1))
ANY_MEMORY = "--any-memory" in sys.argv
if ANY_MEMORY:
    sys.argv.remove("--any-memory")
SIZE = 1_000_000 if ANY_MEMORY else 8_000_000  # sanitizers are slow
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
    most = {}  # megabytes, of each test

    @classmethod
    def tearDownClass(cls):
        for test, megabytes in cls.most.items():
            print(f"{test}: {megabytes} of {MAY_TAKE // 1000000} MB", file=sys.stderr)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_on(self, text, command, statuses=(1, 2, 125), name="file", speaks=True, **variables):
        file = os.path.join(self.folder, name)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        words = [file if word == "FILE" else word for word in command]
        done = subprocess.run([sys.executable, "-c", WATCH, NIGH, *words], env=QUIET | variables, cwd=self.folder,
                              capture_output=True, text=True)
        *said, kilobytes = done.stderr.splitlines()
        about = f"{words} on {text[:60]}: {done.returncode} {str(said)[:1000]}"
        self.assertIn(done.returncode, statuses, about)
        if speaks and done.returncode != 0:
            # A host of one domain is mentioned, which is no error.
            said = [line for line in said if not line.startswith("nigh: tune: one domain: ")]
            self.assertEqual(len(said), 1, about)
            self.assertTrue(said[0].startswith("nigh") and len(said[0]) < 500, about)
        test = self.id().rpartition("test_")[2]
        self.most[test] = max(self.most.get(test, 0), int(kilobytes) * 1024 // 1000000)
        if not ANY_MEMORY:
            self.assertLessEqual(int(kilobytes) * 1024, MAY_TAKE, about)

    def test_profiles_of_regions(self):
        texts = [nested('{"nigh_region_profile":', "}")]
        texts += [filled('{"nigh_region_profile":1,"regions":[', element, "]}") for element in DENSE]
        for text in texts:
            self.run_on(text, ["profile", "show", "--json"], (0, 1), "x-27c4fd7b4eb79b1c.json",
                        NIGH_PROFILES=self.folder)

    def test_profiles_of_nigh_tune(self):
        for text in (nested('{"nigh_profile":', "}"), '{"nigh_profile":' + "[" * 20_000 + "]" * 20_000 + "}",
                     '{"nigh_profile":1,"bind":"' + ",".join(["0-65535"] * 8_000) + '"}'):
            self.run_on(text, ["run", "--force", "--profile", "FILE", "--", "true"])

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

    def test_traces_of_ranks(self):
        head = '{"displayTimeUnit":"ns","traceEvents":[\n'
        sums = ('"format":2,"program":"p","process":1,"zero_ns":0,"rank":0,"ranks":2,"host":"a","to_rank_0_ns":0,'
                '"clock_error_ns":0,"runtimes":1,"workers":1,"created":1,"serialized":0,"steals":{},"stolen":0,'
                '"failed":0,"parks":0,"busy_ns":0,"elapsed_ns":0,"events_lost":0')
        after = '\n],"otherData":{' + sums + "}}\n"
        merge = ["trace", "--merge", "FILE", "--output", "all.json"]
        event = '{"ph":"X","name":"","pid":1,"tid":100000,"ts":0,"dur":1}'
        self.run_on(filled(head, "\n" + event, after), merge, (0,))
        self.run_on(head + event[:-1] + ',"args":{"name":"' + "x" * (SIZE - 2000) + '"}}' + after, merge, (0,))
        self.run_on(head + '{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"' +
                    '\\"' * (SIZE // 2 - 1000) + '"}}' + after, merge, (0,))
        self.run_on(head + "\n" * (SIZE - 2000) + after, merge, (0,))
        self.run_on(nested(head, after), merge)
        # Up to 4 MB of sums are read.
        self.run_on(head + after.replace(sums, filled(sums + ',"x":[', "[]", "]")), merge, (0,) if ANY_MEMORY else (1, 2, 125))

    def test_programs(self):
        """An ELF file that is all symbols and names of libraries, which nigh reads before it is run."""
        header = b"\x7fELF\x02\x01\x01" + bytes(9)
        machine = pathlib.Path("/proc/self/exe").read_bytes()[18:20]
        text = bytearray(SIZE)
        names = 1 << 12  # where a name of 4,000 letters is
        text[names:names + 4000] = b"x" * 4000
        text[8192:8194] = b"\x0f\x0b"  # where it begins: no instruction
        symbols, dynamic = 1 << 14, 1 << 21
        text[:64] = header + struct.pack("<H2sIQQQIHHHHHH", 3, machine, 1, 8192, 64, 1024, 0, 64, 56, 2, 64, 2, 0)
        text[64:120] = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, SIZE, SIZE, 4096)
        text[120:176] = struct.pack("<IIQQQQQQ", 2, 4, dynamic, dynamic, 0, 4 << 20, 4 << 20, 8)
        text[1024:1088] = struct.pack("<IIQQQQIIQQ", 1, 11, 0, 0, symbols, 1 << 20, 1, 0, 8, 24)
        text[1088:1152] = struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, names - 1, SIZE, 0, 0, 1, 0)
        for i in range((1 << 20) // 24):
            text[symbols + 24 * i:symbols + 24 * i + 4] = struct.pack("<I", 1)
        text[dynamic:dynamic + 16] = struct.pack("<QQ", 5, names)
        for i in range(1, 1 << 17):
            text[dynamic + 16 * i:dynamic + 16 * i + 16] = struct.pack("<QQ", 1, i % 4000)
        file = os.path.join(self.folder, "program")
        with open(file, "wb") as out:
            out.write(text)
        os.chmod(file, 0o755)
        self.run_on("", ["run", "--no-coordinator", "--", file], range(1, 256), speaks=False)

    def test_outputs_of_programs(self):
        for text in ("x1 " * (SIZE // 3), "\n" * SIZE, "x" * SIZE):
            self.run_on(text, ["tune", "--metric", "x([0-9]+)", "--threads", "1", "--bind", "compact", "--schedule",
                               "static", "--output", "tuned.json", "--", "cat", "FILE"], (0, 1, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:], verbosity=2)
