#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shells complete nigh's words: bash always, zsh and fish where they are installed.

    completion_test.py BIN_DIR
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}


def output(*words):
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and done.stderr == "", (words, done)
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


class Bash(unittest.TestCase):
    def offered(self, *words):
        quoted = " ".join(f"'{word}'" for word in words)
        return output("bash", "-uc", f"source <(nigh completion bash); COMP_WORDS=(nigh {quoted}); COMP_CWORD={len(words)}; "
                      "_nigh; printf '%s\\n' \"${COMPREPLY[@]}\"")

    def test_commands(self):
        self.assertEqual(self.offered("to"), ["topo", "top"])
        self.assertEqual(self.offered("profile", "s"), ["show", "set"])
        self.assertEqual(self.offered("completion", ""), ["bash", "zsh", "fish"])
        self.assertIn("run", self.offered("help", ""))

    def test_options(self):
        self.assertEqual(self.offered("run", "--bi"), ["--bind", "--bind-ranks"])
        self.assertIn("--maximum", self.offered("profile", "set", "--m"))
        self.assertNotIn("--threads", self.offered("--"))

    def test_all_that_help_shows(self):
        for command in self.offered(""):
            if command not in ("bench", "sim", "help", "version"):
                shown = re.findall(r"^  (?:-\w,)?(--[\w-]+)", "\n".join(output("nigh", command, "--help")), re.MULTILINE)
                self.assertLessEqual(set(shown), set(self.offered(command, "--")), command)

    def test_values(self):
        for command, option, values in (("run", "--bind", ["compact", "scatter"]), ("tune", "--bind", ["compact", "scatter"]),
                                        ("run", "--bind-ranks", ["compact", "scatter"]), ("run", "--spread", ["all", "auto"]),
                                        ("run", "--adjust", ["none", "without-clause", "all", "nests", "openblas", "blis"]),
                                        ("run", "--schedule", ["static", "dynamic", "guided", "adaptive", "local"]),
                                        ("run", "--mem", ["first-touch", "interleave", "bind:0", "preferred:0"]),
                                        ("run", "--tasks", ["auto", "off", "prefer", "strict", "prefer,data=depend",
                                                            "strict,data=depend"])):
            self.assertEqual(self.offered(command, option, ""), values)
            for value in values:
                if command == "run" and option != "--bind-ranks":  # which is for ranks
                    subprocess.run(["nigh", "run", option, value, "--", "true"], check=True, capture_output=True, timeout=100,
                                   env={**ENVIRONMENT, "NIGH_COORDINATOR": "off"})
        self.assertEqual(self.offered("run", "--bind", "s"), ["scatter"])

    @unittest.skipUnless(os.access(os.path.join(BIN, "../libexec/nigh/nigh-sim"), os.X_OK), "nigh-sim is not built")
    def test_experiments(self):
        shown = re.findall(r"^  ([a-z]\w*)", "\n".join(output("nigh", "sim", "--help")), re.MULTILINE)
        self.assertEqual(self.offered("sim", ""), shown)

    def test_behind_two_dashes_a_program(self):
        self.assertIn("ls", self.offered("run", "--", "l"))
        self.assertEqual(self.offered("run", "--", "ls", "--"), [""])


@unittest.skipIf(shutil.which("zsh") is None, "zsh is not installed")
class Zsh(unittest.TestCase):
    def offered(self, *words):
        quoted = " ".join(f"'{word}'" for word in words)
        return output("zsh", "-fc", "compdef() {}; compadd() { shift; print -l -- $@ }; _files() { print files }; "
                      "_normal() { print -l -- program $words }; source <(nigh completion zsh); "
                      f"words=(nigh {quoted}); CURRENT={len(words) + 1}; _nigh")

    def test_words(self):
        self.assertIn("topo", self.offered("to"))
        self.assertEqual(self.offered("profile", "s"), ["show", "set", "forget"])
        self.assertIn("--bind-ranks", self.offered("run", "--b"))
        self.assertEqual(self.offered("run", "--bind", ""), ["compact", "scatter"])
        self.assertEqual(self.offered("run", ""), ["files"])
        self.assertEqual(self.offered("run", "--", "l"), ["program", "l"])


@unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
class Fish(unittest.TestCase):
    def offered(self, line):
        return output("fish", "--no-config", "-c", f"nigh completion fish | source; complete -C '{line}'")

    def test_words(self):
        self.assertEqual(sorted(self.offered("nigh to")), ["top", "topo"])
        self.assertEqual(sorted(self.offered("nigh profile s")), ["set", "show"])
        self.assertEqual(sorted(self.offered("nigh run --bi")), ["--bind", "--bind-ranks"])
        self.assertNotIn("--bind", self.offered("nigh run -- ls --bi"))
        self.assertIn("ls", self.offered("nigh run --bind scatter -- l"))
        self.assertNotIn("ls", self.offered("nigh run -- ls l"))


if __name__ == "__main__":
    unittest.main()
