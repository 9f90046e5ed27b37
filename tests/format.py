#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that C and C++ files are as clang-format leaves them.

    tests/format.py [--fix]

Looks at the folders that have been formatted as a whole. Exits 77 where clang-format 19 is not installed:
another version formats otherwise.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Add a folder when all of its files have been formatted; the list ends when it names src, lab and tests.
FORMATTED = [
    "src/base", "src/json", "src/platform", "src/topology", "src/memory", "src/tune", "src/preload", "src/nighd",
    "src/cli/report",
    "src/openmp", "src/python", "src/coordinator/arena", "src/coordinator/client", "src/coordinator/profile",
    "src/coordinator/protocol", "tests/chaos", "tests/cli", "tests/cluster", "tests/install", "tests/numa_vm",
    "tests/simulation", "tests/stress", "lab",
]
SUFFIXES = {".cpp", ".hpp", ".c", ".h"}


def main():
    parser = argparse.ArgumentParser(description="check that files are as clang-format leaves them")
    parser.add_argument("--fix", action="store_true", help="format them")
    arguments = parser.parse_args()
    program = shutil.which("clang-format-19")
    if program is None:
        print("clang-format-19 is not installed: not checked")
        return 77
    files = [str(path) for folder in FORMATTED for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
    how = ["-i"] if arguments.fix else ["--dry-run", "--Werror"]
    failed = subprocess.run([program, *how, *files], check=False).returncode != 0
    if failed:
        print("format with: tests/format.py --fix")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
