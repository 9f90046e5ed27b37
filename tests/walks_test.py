#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md agrees with the tree: its walks with the files, its table of layers with cmake/layers.json.

A walk is a list or a table. A step begins with its number and names its file; the functions in a step, `name()`,
are in that file. A table's row without a number goes back to a file that an earlier step of the walk has.
"""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture.md"
# The heading that a walk is under, and how many files it may have.
WALKS = {
    "From a fork to a steal and a join": 5,
    "A remote steal, file by file": 10,
    "An OpenMP region to nighd and back": 10,
}
FILE = re.compile(r"`([\w/.]+\.(?:hpp|cpp))`")
FUNCTION = re.compile(r"`(?:\w+::)*(\w+)\(\)`")


def section(heading):
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(f"\n## {heading}\n")
    end = text.find("\n## ", start + 1)
    return text[start:end if end >= 0 else len(text)]


def steps(heading):
    """[(number, or 0, its text)] of a walk."""
    text = section(heading)
    if "\n| " not in text:
        pieces = re.split(r"^(\d+)\. ", text, flags=re.MULTILINE)[1:]
        return [(int(n), step.split("\n\n")[0]) for n, step in zip(pieces[::2], pieces[1::2])]
    found = []
    for line in text.split("\n"):
        match = re.match(r"\| (\d+)(?: \||\.) |\| +\| ", line)
        if match and FILE.search(line):
            found.append((int(match.group(1) or 0), line[match.end():]))
    return found


class Walks(unittest.TestCase):
    def test_files_hold_what_is_named(self):
        for heading in WALKS:
            by_name = {}
            for number, step in steps(heading):
                first, *others = FILE.findall(step.split(":")[0] if "|" not in step else step.split("|")[0])
                if number == 0:
                    paths = [by_name[name] for name in [first, *others]]
                else:
                    paths = [first] if (ROOT / first).is_file() else []
                    by_name[pathlib.PurePosixPath(first).name] = first
                with self.subTest(f"{heading}, step {number or first}"):
                    self.assertTrue(paths, f"{first} does not exist")
                    text = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in paths)
                    functions = FUNCTION.findall(step)
                    missing = [name for name in functions if not re.search(rf"\b{name}\(", text)]
                    self.assertFalse(missing, f"not in {paths}")

    def test_the_page_names_what_exists(self):
        for path in re.findall(r"`((?:src|include|lab|cmake|scripts|tests)/[\w/.-]*)`", PAGE.read_text(encoding="utf-8")):
            with self.subTest(path):
                self.assertTrue((ROOT / path).exists(), "there is no such file or folder")

    def test_they_are_short(self):
        for heading, most in WALKS.items():
            with self.subTest(heading):
                numbers = [number for number, _ in steps(heading) if number > 0]
                self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
                self.assertLessEqual(len(numbers), most)
                self.assertGreaterEqual(len(numbers), 3, "the walk was not found")


class Layers(unittest.TestCase):
    NO_LAYERS = {"", "itself", "nothing", "anything", "public headers", "`nigh.h`"}
    NOT_IN_THE_PAGE = {"src"}  # the few lines right in that folder

    def setUp(self):
        table = json.loads((ROOT / "cmake/layers.json").read_text(encoding="utf-8"))
        self.may_include = {row["folder"]: set(row["may_include"]) for row in table["layers"]}

    def folder(self, name):
        """A row names a layer by the end of its folder: `client`, `coordinator/core`."""
        return min((f for f in self.may_include if f"/{f}".endswith(f"/{name}")), key=len)

    def test_rows_say_what_the_table_says(self):
        rows = {}
        table = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
        for row in re.findall(r"^\| `.*\|$", table, flags=re.MULTILINE):
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            names = re.sub(r" \([^)]*\)", "", cells[-1]).split(", ")
            path = cells[0].strip("`/").replace("include/nigh", "include")
            rows[path] = {self.folder(name) for name in names if name not in self.NO_LAYERS}
        for path, layers in self.may_include.items():
            with self.subTest(path):
                if path not in self.NOT_IN_THE_PAGE:
                    self.assertEqual(rows.get(path), layers)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
