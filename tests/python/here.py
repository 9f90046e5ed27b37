# SPDX-License-Identifier: Apache-2.0
"""The module nigh of a build tree, and what tests of it share. Its first argument is the folder of the build."""
import importlib.util
import os
import sys
import unittest

BUILD = os.path.abspath(sys.argv[1])
MODULE = os.path.join(BUILD, "lib", "python")
BIN = os.path.join(BUILD, "bin")
SOON = 30  # seconds; without, it would be never
for name in [name for name in os.environ if name.startswith("NIGH_")]:
    del os.environ[name]
sys.path.insert(0, MODULE)


def main(*needed):
    """Runs the tests of the program; 77, with a line, where Python lacks what they need."""
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{sys.executable} has no {', '.join(missing)}: not tested")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
