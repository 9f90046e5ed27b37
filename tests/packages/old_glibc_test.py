#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel's programs will run with glibc 2.28: seen in the ordinary build, without making the wheel.

    old_glibc_test.py --compiler CXX --archives 'A;B' FILE...

FILE is a program or library that the wheel has, as linked without NIGH_PORTABLE. The functions that it will call in the wheel
are those that it calls now, and those of the members of static archives that then take the place of shared libraries. Each
must be in glibc 2.28 under the version that this machine's glibc gives it, unless src/platform/old_glibc*.cpp names an older
version or defines it.

What this cannot see: functions that only an optimised build calls, and glibc's data. packages_wheel does, in `./test.sh --full`."""
import argparse
import functools
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDEST = (2, 28)
HEADERS_ALONE = r"lib(?:fmt|spdlog)\.so\S*"  # compiled into the wheel's programs (cmake/portable)

parser = argparse.ArgumentParser()
parser.add_argument("--compiler", required=True)
parser.add_argument("--archives", type=lambda text: text.split(";"), required=True)
parser.add_argument("files", nargs="+", type=pathlib.Path)


def said(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


def library(name):
    """Where the compiler finds it, or None."""
    path = pathlib.Path(said(arguments.compiler, f"-print-file-name={name}").strip())
    return path if path.is_absolute() else None


@functools.lru_cache(maxsize=None)
def glibc():
    """The version of each function that a program linked here calls, as numbers."""
    found = {}
    for name in ("libc.so.6", "libm.so.6"):
        for symbol, version in re.findall(r" (\w+)@@GLIBC_([\d.]+)$", said("readelf", "--dyn-syms", "--wide", library(name)), re.MULTILINE):
            found[symbol] = tuple(map(int, version.split(".")))
    return found


def called(file):
    """What a program or shared library takes from others."""
    return set(re.findall(r" UND (\w+)", said("readelf", "--dyn-syms", "--wide", file)))


class Archives:
    def __init__(self, names):
        self.members = {}  # their undefined names, with those that may stay undefined in `weak`
        self.weak = {}
        self.definers = {}
        for path in filter(None, (library(f"lib{name}.a") for name in names)):
            member = None
            for line in said("nm", "--format=posix", path).splitlines():
                if line.endswith("]:"):
                    member = line[:-1]
                    self.members[member], self.weak[member] = set(), set()
                    continue
                name, kind = line.split()[:2]
                if kind == "U":
                    self.members[member].add(name)
                elif kind in "vw":
                    self.weak[member].add(name)
                elif kind.isupper() or kind in "iu":
                    self.definers.setdefault(name, member)

    def linked(self, names):
        """{name: the member that needs it, or None}: the names, and what the members call that the linker takes for them."""
        needed = dict.fromkeys(names)
        todo, taken = list(names), set()
        while todo:
            member = self.definers.get(todo.pop())
            if member is None or member in taken:
                continue
            taken.add(member)
            for name in self.members[member] | self.weak[member]:
                needed.setdefault(name, member)
            todo += self.members[member]
        return {name: member for name, member in needed.items() if name not in self.definers}


@functools.lru_cache(maxsize=None)
def replaced(source):
    """The names that a file of src/platform gives another meaning."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made.o"
        said(arguments.compiler, "-std=c++20", f"-I{ROOT}/src", "-c", ROOT / "src/platform" / source, "-o", made)
        return {line.split()[0] for line in said("nm", "--format=posix", "--defined-only", made).splitlines()}


def newer(needed, known):
    """The lines to complain with."""
    for name, member in sorted(needed.items()):
        version = glibc().get(name, OLDEST)
        if version > OLDEST and name not in known:
            yield (f"{name} of glibc {'.'.join(map(str, version))}, called by {member or 'nigh itself'}: "
                   "src/platform/old_glibc_libraries.cpp must say which version glibc 2.28 had, or define it")


class OldGlibc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archives = Archives([*arguments.archives, "stdc++", "gcc_eh"])

    def complaints(self, file, without=()):
        known = replaced("old_glibc.cpp") | replaced("old_glibc_libraries.cpp")
        if file.suffix != ".so":
            known |= replaced("old_glibc_program.cpp")
        names = called(file)
        for other in re.findall(rf"NEEDED.*\[({HEADERS_ALONE})\]", said("readelf", "-dW", file)):
            names |= called(library(other))
        return list(newer(self.archives.linked(names), known - set(without)))

    def test_all_that_the_wheel_calls_is_in_glibc_2_28(self):
        for file in arguments.files:
            with self.subTest(file=file):
                self.assertEqual(self.complaints(file), [])

    def test_a_function_that_nobody_replaces_is_seen(self):
        nigh = next(file for file in arguments.files if file.name == "nigh")
        for name in ("pthread_setname_np", "pthread_create"):
            with self.subTest(name=name):
                if glibc()[name] <= OLDEST:
                    self.skipTest("this glibc has its old version alone")
                self.assertRegex("\n".join(self.complaints(nigh, without=[name])), rf"(?m)^{name} of glibc 2\.\d+, called by nigh itself")

    def test_what_only_an_archive_calls_is_seen(self):
        nigh = next(file for file in arguments.files if file.name == "nigh")
        if glibc().get("arc4random", OLDEST) <= OLDEST or "random.o" not in str(self.archives.members.keys()):
            self.skipTest("no std::random_device here that calls arc4random")
        self.assertRegex("\n".join(self.complaints(nigh, without=["arc4random"])),
                         r"(?m)^arc4random of glibc 2\.36, called by .*libstdc\+\+\.a\[")


if __name__ == "__main__":
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
