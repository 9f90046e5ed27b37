#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Product and simulator ask the same policies: where one is replaced, both do something else.

    tests/shared_policies/shared_policies_test.py PROGRAM REPLACED

PROGRAM is observe.cpp with the policies as they are, REPLACED the same with one of each folder replaced.
"""

import json
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM, REPLACED = sys.argv[1:3]


def observed(program):
    """{(folder, side): number} of the lines that a program writes."""
    text = subprocess.run([program], check=True, capture_output=True, text=True, timeout=120).stdout
    return {tuple(line.split()[:2]): line.split()[2] for line in text.splitlines()}


class SharedPolicies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.usual, cls.replaced = observed(PROGRAM), observed(REPLACED)

    def test_every_folder_has_a_replacement(self):
        rows = json.loads((HERE / "replacements.json").read_text(encoding="utf-8"))["replacements"]
        folders = {path.name for path in (HERE.parent.parent / "src/policy").iterdir() if path.is_dir()}
        self.assertEqual({row["folder"] for row in rows}, folders)
        self.assertEqual(set(self.usual), {(f, side) for f in folders for side in ("product", "simulator")})

    def test_both_sides_change_with_the_policy(self):
        for key, number in self.usual.items():
            with self.subTest(" ".join(key)):
                self.assertNotEqual(self.replaced[key], number, "it does not ask the policy that was replaced")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
