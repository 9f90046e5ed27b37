#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python sessions of docs/python.md beside a nighd of its own: page_test.py BUILD [unittest arguments].

Numbers differ between machines, and so do lists of them: a session passes if it prints the same words.
"""
import doctest
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import here

ROOT = pathlib.Path(here.__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/python.md"


def words(text):
    """Without numbers, the white space between words, and the machine's findings."""
    text = re.sub(r"\d+(\.\d+)?", "N", text)
    return re.sub(r"N(, N)*,?\)", "N)", re.sub(r"\s+", " ", text)).strip()


class SameWords(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return super().check_output(words(want), words(got), optionflags)


class Page(unittest.TestCase):
    def test_its_sessions(self):
        sessions = "\n".join(re.findall(r"^```python\n(>>> .*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S))
        self.assertGreater(sessions.count(">>> "), 15)
        with tempfile.TemporaryDirectory() as folder:
            socket = os.path.join(folder, "nighd.sock")
            daemon = subprocess.Popen([os.path.join(here.BIN, "nighd"), "--foreground", "--socket", socket, "--profiles", "none"],
                                      stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            try:
                end = time.monotonic() + here.SOON
                while not os.path.exists(socket):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.02)
                os.environ.update(NIGH_SOCKET=socket, XDG_RUNTIME_DIR=folder)
                os.chdir(ROOT)
                test = doctest.DocTestParser().get_doctest(sessions, {}, PAGE.name, str(PAGE), 0)
                runner = doctest.DocTestRunner(SameWords(), optionflags=doctest.ELLIPSIS)
                out = []
                runner.run(test, out=out.append)
            finally:
                daemon.kill()
                daemon.wait()
        self.assertEqual(runner.summarize(verbose=False).failed, 0, "".join(out))

    def test_another_word_is_found(self):
        self.assertTrue(SameWords().check_output("(0, 1) a 3\n", "(0,) a 17\n", 0))
        self.assertFalse(SameWords().check_output("source='nighd'\n", "source='process'\n", 0))


here.main("cffi", "numpy", "pandas", "threadpoolctl")
