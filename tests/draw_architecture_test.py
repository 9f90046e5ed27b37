#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/draw_architecture.py says in one line that there is no graphviz, and leaves the picture as it is."""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class WithoutGraphviz(unittest.TestCase):
    def test_one_line_and_status_two(self):
        picture = ROOT / "docs/architecture.svg"
        before = picture.read_bytes()
        run = subprocess.run([sys.executable, "-B", ROOT / "scripts/draw_architecture.py"], capture_output=True,
                             text=True, check=False, env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr, "draw_architecture.py: there is no program dot: install graphviz\n")
        self.assertEqual(picture.read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
