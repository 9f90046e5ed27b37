#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that reference pages name all that there is: environment variables, the C interface, the Fortran module, machines' keys.

    tests/docs/reference_test.py [ROOT]

Prints one line per name that a page lacks, or has and should not, and exits 1 when there is any.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = {".cpp", ".hpp", ".c", ".h", ".py"}


def spoken(page):
    """What stands in code spans and code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))


def variables(root, without=frozenset()):
    """Environment variables that sources name in a string."""
    found = set()
    for folder in ("src", "lab", "python"):
        for file in (root / folder).rglob("*"):
            if file.suffix in SOURCES and file.name not in without:
                found.update(re.findall(r"[\"'](NIGH_[A-Z_]*[A-Z])=?[\"']", file.read_text(encoding="utf-8")))
    return found


def known_variables(root):
    """Those that nigh does not complain about."""
    return set(re.findall(r'"(NIGH_[A-Z_]+[A-Z])"', (root / "src/base/known_variables.hpp").read_text(encoding="utf-8")))


def c_names(header):
    """Functions, types, constants and members of a C header."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
    functions = set(re.findall(r"NIGH_C_API[^;(]*?\b(nigh_\w+)\(", text))
    types = set(re.findall(r"}\s*(nigh_\w+);|typedef void \(\*(nigh_\w+)\)|typedef struct \w+ (nigh_\w+);", text))
    types = {name for names in types for name in names if name}
    constants = set(re.findall(r"\b(NIGH_[A-Z_]+)\s*=", text)) | set(re.findall(r"#define (NIGH_\w*[A-Z0-9])\b(?!.*__)(?= [\d]|\()", text))
    members = set()
    for body in re.findall(r"typedef struct nigh_\w+ {(.*?)}", text, re.DOTALL):
        members.update(re.findall(r"\b(\w+);", body))
    return functions | types | constants | members


def fortran_names(module):
    """Public names, and procedures and components of public types, of a Fortran module."""
    text = re.sub(r"!.*", "", module.read_text(encoding="utf-8")).replace("&\n", " ")
    public = set()
    for line in re.findall(r"public *:: *(.*)", text):
        public.update(re.findall(r"\b([a-z]\w*)\b(?=\s*(?:=|,|$))", re.sub(r"= *-?\d+", "", line)))
    for body in re.findall(r"type(?:, bind\(c\))? :: (?:nigh_\w+|task_queue)\n(.*?)end type", text, re.DOTALL):
        for line in body.split("\n"):
            if "private" in line or "::" not in line:
                continue
            declared = line.partition("::")[2]
            declared = declared.partition("=>")[0] if "generic" in line else re.sub(r"=>? *[^,]*", "", declared)
            public.update(re.findall(r"\b[a-z]\w*\b", declared))
    return public


def machine_keys(folder):
    """The keys of machines' files, without the names of levels."""
    found = set()

    def walk(value, within):
        for key, inner in value.items() if isinstance(value, dict) else ():
            if within != "levels":
                found.add(key)
            walk(inner, key)

    for file in folder.glob("*.json"):
        walk(json.loads(file.read_text(encoding="utf-8")), "")
    return found


def complaints(root):
    wrong = []

    def compare(page, names, extra=()):
        text = spoken(root / page)
        wrong.extend(f"{page}:1: does not name {name}" for name in sorted(names) if not re.search(rf"\b{name}\b", text))
        wrong.extend(f"{page}:1: names {name}, which nothing has" for name in sorted(extra))

    known = variables(root)
    page = (root / "docs/environment.md").read_text(encoding="utf-8")
    slips = re.findall(r"^nigh: (NIGH_[A-Z_]+) is no variable", page, re.MULTILINE)  # shown as such
    there = set(re.findall(r"\bNIGH_[A-Z_]+\b", page)) - set(slips)
    compare("docs/environment.md", known, there - known)
    listed = known_variables(root)
    wrong.extend(f"src/base/known_variables.hpp:1: lacks {name}" for name in sorted(variables(root, {"known_variables.hpp"}) - listed))
    compare("docs/c-api.md", c_names(root / "include/nigh/nigh.h") | c_names(root / "include/nigh/locality_mark.h"))
    compare("docs/file-formats.md", machine_keys(root / "machines"))
    compare("docs/fortran.md", fortran_names(root / "fortran/nigh.f90"))
    return wrong


def finds_names(root):
    """The names that each reader must find, or it reads nothing."""
    have = {"variables": variables(root), "c": c_names(root / "include/nigh/nigh.h") | c_names(root / "include/nigh/locality_mark.h"),
            "fortran": fortran_names(root / "fortran/nigh.f90"), "machines": machine_keys(root / "machines")}
    want = {"variables": {"NIGH_WORKERS", "NIGH_SOCKET", "NIGH_CLUSTER_SILENCE", "NIGH_PLACES"},
            "c": {"nigh_put", "nigh_error", "nigh_loop_body", "NIGH_FORKED", "NIGH_INPUT_IN_SLOT", "stack_bytes", "failed_steals",
                  "NIGH_METER_RANGE"},
            "machines": {"gb_per_s", "slice_ns", "probe_ns", "hosts"},
            "fortran": {"task_queue", "nigh_busy", "nigh_chunks_half", "put", "put_bytes", "is_empty", "synthetic", "failed_steals",
                        "nigh_loop_piece"}}
    return [f"reference_test.py:1: does not find {name} itself" for kind, names in want.items() for name in names - have[kind]]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    found = complaints(root) + finds_names(root)
    for what in found:
        print(what)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
