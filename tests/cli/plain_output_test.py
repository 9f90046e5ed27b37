#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a terminal with NO_COLOR=1 and LC_ALL=C, commands write no colour and no byte beyond ASCII.

    plain_output_test.py BIN_DIR TRACED
"""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
TRACED = pathlib.Path(sys.argv.pop(1)).resolve()
SGR = re.compile(rb"\x1b\[([\d;:]*)m")
COLOURS = {*range(30, 50), *range(90, 108)}


def on_terminal(words, **environment):
    """(exit status, what a command writes to a terminal)"""
    master, slave = pty.openpty()
    child = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm-256color", **environment})
    os.close(slave)
    out = b""
    while True:
        try:
            some = os.read(master, 1 << 16)
        except OSError:  # the last one has closed it
            some = b""
        if not some:
            break
        out += some
    os.close(master)
    return child.wait(timeout=100), out


class PlainOutput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.socket = f"{cls.folder.name}/nighd.sock"
        cls.nighd = subprocess.Popen([BIN / "nighd", "--foreground", "--profiles", "none", "--socket", cls.socket], stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if os.path.exists(cls.socket):
                break
            time.sleep(0.01)

    @classmethod
    def tearDownClass(cls):
        cls.nighd.terminate()
        cls.nighd.wait()
        cls.folder.cleanup()

    def test_commands(self):
        nigh = str(BIN / "nigh")
        commands = [("topo",), ("topo", "--synthetic", "pack:2 numa:2 l3:1 core:2 pu:2"), ("doctor",), ("status",), ("top", "--once"),
                    ("profile", "show"), ("bench",), ("sim", "machines"), ("run", "-v", "--threads", "1", "--", "true"),
                    ("trace", "--output", f"{self.folder.name}/t.json", "--", str(TRACED), "10"),
                    ("tune", "--threads", "1", "--repetitions", "1", "-o", f"{self.folder.name}/p.json", "--", "true")]
        if not (BIN.parent / "libexec/nigh/nigh-sim").exists():
            commands.remove(("sim", "machines"))
        if not any((BIN.parent / "libexec/nigh").glob("nigh-bench-*")):
            commands.remove(("bench",))
        for words in commands:
            status, out = on_terminal([nigh, *words], NO_COLOR="1", LC_ALL="C", NIGH_SOCKET=self.socket, NIGH_PROFILES=self.folder.name)
            with self.subTest(words=words):
                self.assertIn(status, (0, 1) if words[0] == "profile" else (0,), out)
                self.assertNotEqual(out, b"")
                self.assertEqual(re.findall(rb"[^\x00-\x7f]+", out), [])
                used = {int(n) for codes in SGR.findall(out) for n in re.findall(rb"\d+", codes)}
                self.assertEqual(used & COLOURS, set(), out)

    def test_the_same_tree_in_other_signs(self):
        """The test sees signs beyond ASCII where they are allowed."""
        _, out = on_terminal([str(BIN / "nigh"), "topo"], LC_ALL="C.UTF-8")
        self.assertNotEqual(re.findall(rb"[^\x00-\x7f]+", out), [])


if __name__ == "__main__":
    unittest.main()
