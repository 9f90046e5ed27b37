#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The help of every command, and of every other program that is installed: `nigh help COMMAND` is `nigh COMMAND --help`.

    help_test.py BIN_DIR
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
LIBEXEC = BIN.parent / "libexec/nigh"
NUMA_VM = pathlib.Path(__file__).resolve().parents[1] / "numa_vm/numa-vm"


def output(*words):
    run = subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, timeout=240)
    assert (run.returncode, run.stderr) == (0, ""), (words, run)
    return run.stdout


def commands_of(text):
    """The names below "Subcommands:"."""
    return re.findall(r"^  (\w\S*)", text.partition("\nSubcommands:\n")[2], re.MULTILINE)


def all_helps(words=()):
    """[(words of a command, its help)], those below it after it."""
    text = output("nigh", *words, "--help")
    helps = [(words, text)]
    for name in commands_of(text):
        if name == "help":
            continue  # its help is that of nigh
        if name == "calibrate" and not (BIN.parent / "libexec/nigh/nigh-calibrate").exists():
            continue  # a program of the workloads
        helps += all_helps((*words, name))
    return helps


class Help(unittest.TestCase):
    def test_help_command_is_the_command_with_help(self):
        helps = all_helps()
        names = [words for words, _ in helps]
        for words in [("run",), ("profile", "set")]:
            self.assertIn(words, names)
        for words, text in helps:
            self.assertEqual(output("nigh", "help", *words), text, words)

    def is_help_of(self, name, text):
        """In 80 columns, with a usage that has the name that users type."""
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, (name, line))
        self.assertRegex(text, rf"(?im)^usage: {re.escape(name)}(\s|$)", name)

    def test_each_command(self):
        for words, text in all_helps():
            self.is_help_of(" ".join(["nigh", *words]), text)
        self.is_help_of("nighd", output("nighd", "--help"))

    def test_each_benchmark(self):
        names = [file.name.removeprefix("nigh-bench-") for file in LIBEXEC.glob("nigh-bench-*")]
        for name in names:
            self.is_help_of(f"nigh bench {name}", output("nigh", "bench", name, "--help"))
            self.assertEqual(output("nigh", "help", "bench", name), output("nigh", "bench", name, "--help"))

    def test_each_program_beside_them(self):
        commands = {"nigh-sim": "nigh sim", "nigh-calibrate": "nigh sim calibrate"}
        for file in sorted(LIBEXEC.iterdir()):
            if not file.is_file() or file.suffix == ".so" or not os.access(file, os.X_OK):
                continue
            name = file.name.replace("nigh-bench-", "nigh bench ")
            self.is_help_of(commands.get(name, name), output(LIBEXEC / file.name, "--help"))
        self.is_help_of("numa-vm", output(NUMA_VM, "--help"))

    def test_wrong_words(self):
        """A benchmark and an experiment answer as a command does: with the known word that is near."""
        cases = [(("bench", "loops", "--thraeds", "2"), "nigh bench loops: no option '--thraeds'; did you mean '--threads'?"),
                 (("bench", "loops", "--sweeps"), "nigh bench loops: no option '--sweeps'; nigh bench loops --help lists them"),
                 (("bench", "loops", "fast"), "nigh bench loops: 'fast' is no option; nigh bench loops --help lists them"),
                 (("bench", "lops"), "nigh: bench: no benchmark 'lops'; did you mean 'loops'?"),
                 (("sim", "alocation"), "nigh: sim: no command 'alocation'; did you mean 'allocation'?"),
                 (("sim", "allocation", "--seedz", "3"), "nigh: sim allocation: no option '--seedz'; did you mean '--seeds'?")]
        for words, said in cases:
            if not (LIBEXEC / ("nigh-sim" if words[0] == "sim" else "nigh-bench-loops")).exists():
                continue
            run = subprocess.run([BIN / "nigh", *words], capture_output=True, text=True, timeout=240)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", said + "\n"))


if __name__ == "__main__":
    unittest.main()
