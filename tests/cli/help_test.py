#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The help of every command: `nigh help COMMAND` is `nigh COMMAND --help`.

    help_test.py BIN_DIR
"""
import pathlib
import re
import subprocess
import sys
import unittest

BIN = pathlib.Path(sys.argv.pop(1))


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

    def test_lines_fit_80_columns(self):
        for words, text in [*all_helps(), (("nighd",), output("nighd", "--help"))]:
            if words == ("sim", "calibrate"):
                continue  # a benchmark's, as CLI11 writes it
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, (words, line))


if __name__ == "__main__":
    unittest.main()
