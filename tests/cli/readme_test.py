#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md shows only what works: each of its commands is run here, or by the test that is named here.

    readme_test.py NIGH NIGHD PROGRAM FOLDER_OF_WHEELS [unittest arguments]

PROGRAM, which has OpenMP tasks, stands for ./app. The trainings are skipped where scikit-learn is not installed, unless
NIGH_REQUIRE_PROGRAMS is set."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NIGH, NIGHD, PROGRAM, WHEELS = map(os.path.abspath, sys.argv[1:5])
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/cli").rglob("*.cpp"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that another test runs: that test, and words that it has of the command.
ELSEWHERE = {
    "packaging/wheel/build.sh build/wheel && python3 -m venv ~/nigh-venv && "
    "~/nigh-venv/bin/pip install build/wheel/wheels/*.whl":
        ("tests/packages/wheel_test.sh", ["packaging/wheel/build.sh", "-m venv", "bin/pip\" install", "$wheel"]),
    "NIGH_VERBOSE=1 nigh run --tasks prefer -- ./fib-gcc 27": ("tests/docs/known_commands.py", ['"fib-gcc"']),
    "./demo.sh": ("tests/install/demo_test.sh", ["./demo.sh >"]),
    "./test.sh [--fast | --full]": (".ci/run", ["./test.sh"]),
    "numa-vm --nodes 4 --cores 2 -- ./app": ("tests/numa_vm/guest_test.py", ["--nodes"]),
    "nigh tune -- mpirun -n {ranks} ./app": ("tests/cli/mpi.cli", ["tune", "{ranks}"]),
    "pkg-config --cflags --libs nigh": ("tests/install/install_test.sh", ["pkg-config --cflags --libs nigh"]),
    "find_package(nigh)": ("tests/install/consumer/CMakeLists.txt", ["find_package(nigh"]),
}
# Shorter, or with an end.
CHANGED = {
    "nigh top": "nigh top --once",
    "nigh tune --budget 10m -- ./app": "nigh tune --budget 10s -- ./app",
    "nigh sim": "nigh sim --help",
}


def blocks(language):
    return [text for kind, text in BLOCK.findall(README) if kind == language]


def shown():
    """[(command, [the lines of output that follow])]"""
    found = []
    for text in blocks("console"):
        for line in text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def in_sentences():
    text = BLOCK.sub("", README)
    begins = r"(?:nigh(?:d|-\w+)?|numa-vm|pkg-config|find_package|\./\w+\.sh)\b"
    return sorted(set(re.findall(rf"`({begins}[^`]*)`", text)))


class Commands(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp(prefix="nigh-readme-")
        self.addCleanup(shutil.rmtree, self.out, ignore_errors=True)
        shutil.copy(PROGRAM, f"{self.out}/app")
        shutil.copy(ROOT / "docs/examples/train.py", self.out)
        self.nighd = subprocess.Popen([NIGHD, "--foreground", "--socket", f"{self.out}/socket", "--profiles", "none"],
                                      stderr=subprocess.DEVNULL)
        self.addCleanup(self.nighd.wait)
        self.addCleanup(self.nighd.terminate)

    def run_in_shell(self, command, python=sys.executable):
        os.makedirs(f"{self.out}/bin", exist_ok=True)
        for name, to in (("nigh", NIGH), ("python", python)):
            if not os.path.islink(f"{self.out}/bin/{name}"):
                # A script: a link to a Python of a virtual environment would not find its modules.
                path = pathlib.Path(f"{self.out}/bin/{name}")
                path.write_text(f'#!/bin/sh\nexec "{to}" "$@"\n', encoding="utf-8")
                path.chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.out}/bin:{os.environ['PATH']}", "NIGH_SOCKET": f"{self.out}/socket",
                       "XDG_STATE_HOME": self.out}
        done = subprocess.run(["bash", "-c", command], cwd=self.out, env=environment, capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check(self, command):
        if command in ELSEWHERE:
            path, words = ELSEWHERE[command]
            text = (ROOT / path).read_text(encoding="utf-8")
            for word in words:
                self.assertIn(word, text, f"{path} should run: {command}")
            return None
        return self.run_in_shell(CHANGED.get(command, command).format(out=self.out))

    def test_in_sentences(self):
        commands = [c for c in in_sentences() if not c.startswith("nigh::")]
        self.assertGreater(len(commands), 8)
        for command in commands:
            with self.subTest(command):
                self.check(command if command != "nigh run -v" else "nigh run -v -- ./app")

    def test_with_output(self):
        for command, lines in shown():
            if "train.py" in command:
                continue
            with self.subTest(command):
                output = self.check(command)
                for line in lines if output is not None else []:
                    self.assertTrue(line == "[...]" or self.is_known(line, output), f"{command} never says: {line}")

    def is_known(self, line, output):
        """It is in the output, numbers and the machine's name aside, or else each of its words is in the command's source:
        findings depend on the machine."""
        def plain(text):
            return re.sub(r"[\d.]+|\s+", " ", re.sub(r"^\S+ \(.*\): (?=\d+ cpu)", "", text, flags=re.MULTILINE))
        words = re.findall(r"[A-Za-z]{4,}", line)
        return plain(line) in plain(output) or all(word in SOURCES or word in output for word in words)

    def test_four_trainings(self):
        python = f"{WHEELS}/bin/python"
        if not os.path.exists(python):
            self.assertNotIn("NIGH_REQUIRE_PROGRAMS", os.environ)
            self.skipTest("scikit-learn is not installed: ./test.sh --full does that")
        commands = [(c, lines) for c, lines in shown() if "train.py" in c]
        self.assertEqual(len(commands), 2)
        command, lines = next((c, lines) for c, lines in commands if "nigh run" in c)
        # The other one takes minutes with as many trees.
        for run in (command, commands[0][0].replace("train.py", "train.py 3")):
            made = self.run_in_shell(run, python).splitlines()
            self.assertEqual(len(made), 4)
            if run == command:
                self.assertEqual({line.rpartition(",")[0] for line in made}, {line.rpartition(",")[0] for line in lines})

    def test_code(self):
        (code,) = blocks("cpp")
        example = (ROOT / "docs/examples/first_loop.cpp").read_text(encoding="utf-8")
        self.assertIn("".join(f"  {line}\n" for line in code.splitlines()), example)

    def test_length(self):
        self.assertLess(len(README.splitlines()), 120)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
