#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules: who may include whom, and what a source file looks like.

    tests/tidy.py [ROOT]

Prints one line per violation, file:line first, and exits 1 when there is any. The rules are the
data below and the layer table, cmake/layers.json.
"""

import json
import os
import pathlib
import re
import sys

import definitions
import plain_english

# The layer table, which CMake and the picture of the architecture read, too.
TABLE = json.loads((pathlib.Path(__file__).resolve().parent.parent / "cmake/layers.json").read_text(encoding="utf-8"))

# Each layer and the layers right below it; it may also include what those may. Public headers
# (<nigh/...>) may be included from everywhere.
LAYERS = {row["folder"]: row["may_include"] for row in TABLE["layers"]}

# Layers that decide and do nothing else: values in, values out. They see the value types of the
# layers below, never the system, whatever those layers may see themselves.
PURE = [row["folder"] for row in TABLE["layers"] if row.get("pure")]
PURE_MAY_NOT_REACH = [row["folder"] for row in TABLE["layers"] if row.get("speaks_to_the_system")]
IMPURE_HEADERS = r"atomic|chrono|condition_variable|ctime|filesystem|fstream|future|iostream|mutex|thread"

# The simulator runs the product's policies: it defines no type and no function of a name that they have.
# That it calls them, tests/shared_policies shows.
POLICY_FOLDER = "src/policy"
WITHOUT_POLICIES = "lab/sim"
TYPE = re.compile(r"^(\s*)(?:class|struct|enum(?:\s+class)?)\s+()(\w+)\b(?!\s*;)")
# A function that a line declares or defines: a type before its name, which may be a member's.
FUNCTION = re.compile(r"^(\s*)(?!return\b|throw\b|else\b|case\b|using\b|new\b|delete\b|if\b|for\b|while\b)"
                      r"[A-Za-z_][\w:<>, *&]*[\s&*]((?:\w+::)*)(\w+)\(")
NO_DECISIONS = ["to_string", "speedup"]  # policies have them, but to tell of something

# Only these folders talk to the system or ask which system and processor they are built for.
# Tests check the seam from both sides. Benchmark drivers pin the threads of runtimes that are not
# ours and record the machine; being users of the public interface, they cannot borrow src/platform.
# Libraries preloaded into other people's programs bring nothing but libc along.
SYSTEM_HEADERS = (r"sys/.*|linux/.*|asm/.*|unistd\.h|sched\.h|pthread\.h|fcntl\.h|dlfcn\.h|poll\.h|"
                  r"signal\.h|syscall\.h|numa\.h|numaif\.h")
SYSTEM_FOLDERS = ["src/platform", "src/preload", "src/openmp", "tests", "lab/bench"]
HWLOC_FOLDERS = ["src/platform", "src/topology", "tests"]
MPI_FOLDERS = ["src/cluster/mpi", "src/preload", "lab/workloads", "lab/bench", "tests"]
SYSTEM_MACROS = (r"__linux__|__unix__|__APPLE__|_WIN32|__FreeBSD__|__GLIBC__|__ANDROID__|"
                 r"__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__powerpc64__|__riscv|"
                 r"__AVX\w*__|__SSE\w*__|__ARM_\w+")
PROCESSOR_HEADERS = r"\w*intrin\.h|arm_neon\.h|arm_sve\.h|cpuid\.h"
# Kernels choose their instructions by processor.
PROCESSOR_FOLDERS = SYSTEM_FOLDERS + ["lab/workloads"]

# The simulator follows the rules of the product, whose policies it runs.
OF_THE_PRODUCT = ("src/", "lab/sim/")

# A class of another layer that is named without its header: `class Scheduler;`, `friend class Scheduler;`.
NAMED_TYPE = re.compile(r"^(?:\s*friend\s+)?(?:class|struct)\s+(?:\w+::)*(\w+);")
DEFINED_TYPE = re.compile(r"^(?:class|struct|enum|enum class)\s+(?:alignas\(.*?\)\s+|NIGH_\w+\s+)*(\w+)\b(?!\s*;)")
# Public headers that still do: take one out when its friends are gone, and put none in.
NAME_INNER_CLASSES = [
    "include/nigh/array.hpp",
    "include/nigh/blocking_scope.hpp",
    "include/nigh/cluster.hpp",
    "include/nigh/detail/task_stack.hpp",
    "include/nigh/runtime.hpp",
    "include/nigh/stencil.hpp",
    "include/nigh/detail/schedule_value.hpp",
    "include/nigh/spread.hpp",
    "include/nigh/topology.hpp",
]

LONGEST = 500
LONG_REASON = re.compile(r"tidy: long, because \S+")

# (file, what is allowed there): reason
EXCEPTIONS = {
    ("include/nigh/detail/atomic.hpp", "model_atomic.hpp"): "supplied by tests/model",
    ("include/nigh/detail/atomic.hpp", "chaos_atomic.hpp"): "supplied by tests/chaos",
    ("include/nigh/locality_mark.h", "#ifdef"): "emits instructions; a header of its own for C",
}

SKIPPED_FOLDERS = {"build", ".git", "__pycache__", ".cache", ".mirror"}
CXX = {".cpp", ".hpp", ".h", ".c"}
OTHER = {".py", ".sh", ".cmake"}
OPEN_ENDS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def closure(layer):
    """The layers that `layer` may include, itself among them."""
    seen, todo = set(), [layer]
    while todo:
        one = todo.pop()
        if one in seen or (layer in PURE and one in PURE_MAY_NOT_REACH):
            continue
        seen.add(one)
        todo += LAYERS[one]
    if layer in PURE:
        seen.add("src/base")
    return seen


def layer_of(path):
    """The longest row of LAYERS that holds this file, or None (tests, docs)."""
    folder = path.rpartition("/")[0]
    while folder:
        if folder in LAYERS:
            return folder
        if folder in ("src", "tests"):
            return None
        folder = folder.rpartition("/")[0]
    return None


def is_in(path, folders):
    return any(path.startswith(folder + "/") for folder in folders)


def without_comments(text):
    """The text with comments and string contents blanked, line numbers kept. An include's name
    stays, for it is no string."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|^\s*#\s*include[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL | re.MULTILINE)

    def blank(match):
        found = match.group(0)
        if found.startswith('"'):
            return '""'
        if found.lstrip().startswith("#"):
            return found
        return "\n" * found.count("\n")

    return pattern.sub(blank, text)


class Checker:
    def __init__(self, root):
        self.root = root
        self.violations = []

    def complain(self, path, line, what):
        self.violations.append(f"{path}:{line}: {what}")

    def files(self):
        found = []
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = sorted(set(subfolders) - SKIPPED_FOLDERS)
            inside = pathlib.Path(folder).relative_to(self.root)
            found += [(inside / name).as_posix() for name in sorted(names)]
        return [path for path in found if not (self.root / path).is_symlink()]

    def resolve(self, path, name):
        """The repository's file that `#include "name"` in `path` means, or None."""
        beside = path.rpartition("/")[0]
        for folder in (beside, "src", "include", "lab/workloads", "lab", "."):
            candidate = self.root / folder / name
            if candidate.is_file():
                return candidate.resolve().relative_to(self.root.resolve()).as_posix()
        return None

    def check_include(self, path, number, kind, name):
        system = re.fullmatch(SYSTEM_HEADERS, name)
        finds_mpi = name == "dlfcn.h" and is_in(path, MPI_FOLDERS)  # functions that one MPI has, and another not
        if system and not is_in(path, SYSTEM_FOLDERS) and not finds_mpi:
            self.complain(path, number, f"<{name}> speaks to the system: only src/platform may")
        if re.fullmatch(PROCESSOR_HEADERS, name) and not is_in(path, PROCESSOR_FOLDERS):
            self.complain(path, number, f"<{name}> is one processor's: only src/platform and kernels may")
        if name.split("/")[0] in ("hwloc.h", "hwloc") and not is_in(path, HWLOC_FOLDERS):
            self.complain(path, number, f"<{name}>: hwloc stays in src/platform and src/topology")
        if name == "mpi.h" and not is_in(path, MPI_FOLDERS):
            self.complain(path, number, f"<{name}>: what nigh says over MPI is said in src/cluster/mpi")
        layer = layer_of(path)
        if layer in PURE and re.fullmatch(IMPURE_HEADERS, name):
            self.complain(path, number, f"<{name}> in {layer}, which reads and returns plain data")
        if path.startswith(OF_THE_PRODUCT) and name == "atomic" and (path, "std::atomic") not in EXCEPTIONS:
            self.complain(path, number, '<atomic>: use "base/atomic.hpp", which model tests replace')
        is_ours = kind == '"' and not name.startswith("nigh/")
        if layer is None or not is_ours or (path, name) in EXCEPTIONS:
            return
        target = self.resolve(path, name)
        if target is None:
            self.complain(path, number, f'"{name}" is no file of this repository')
            return
        below = layer_of(target)
        if below == "lab/workloads" and layer == "lab/workloads":
            # Files beside the workloads' folders are for all of them.
            if target.count("/") > 2 and path.split("/")[:3] != target.split("/")[:3]:
                self.complain(path, number, f'"{name}" belongs to another workload')
        elif below not in closure(layer):
            self.complain(path, number, f'"{name}" is in {below or target}, which {layer} may not include')

    def check_cxx(self, path, text):
        if path.endswith((".hpp", ".h")):
            lines = text.split("\n", 3)
            if len(lines) < 2 or lines[1] != "#pragma once":
                self.complain(path, 2, "the second line of a header is `#pragma once`")
        in_src = path.startswith(OF_THE_PRODUCT) and (path, "std::atomic") not in EXCEPTIONS
        may_ask_processor = is_in(path, PROCESSOR_FOLDERS) or (path, "#ifdef") in EXCEPTIONS
        for number, line in enumerate(without_comments(text).split("\n"), 1):
            include = INCLUDE.match(line)
            if include:
                self.check_include(path, number, include.group(1), include.group(2))
                continue
            if not may_ask_processor and re.match(r"\s*#\s*(if|elif)", line):
                macro = re.search(rf"\b({SYSTEM_MACROS})\b", line)
                if macro:
                    self.complain(path, number, f"{macro.group(1)}: only src/platform asks for the system")
            if in_src:
                atomic = re.search(r"\bstd::(atomic\w*|memory_order\w*)", line)
                if atomic:
                    self.complain(path, number, f'std::{atomic.group(1)}: use nigh::sync of "base/atomic.hpp"')
                if re.search(r"\.load\(\s*\)", line):
                    self.complain(path, number, "a load without its memory order written out")

    def check_file(self, path):
        name = path.rpartition("/")[2]
        suffix = pathlib.PurePosixPath(path).suffix
        is_cmake = name == "CMakeLists.txt"
        if suffix not in CXX | OTHER and not is_cmake:
            if suffix:
                return
            with open(self.root / path, "rb") as file:
                if file.read(2) != b"#!":
                    return
        text = (self.root / path).read_text(encoding="utf-8")
        lines = text.split("\n")
        first = 1 if lines[0].startswith("#!") else 0
        spdx = "SPDX-License-Identifier: Apache-2.0"
        ways = ["// " + spdx, f"/* {spdx} */"] if suffix in CXX else ["# " + spdx]
        if len(lines) <= first or lines[first] not in ways:
            self.complain(path, first + 1, "the first line is the SPDX licence line")
        count = text.count("\n")
        if count > LONGEST and not LONG_REASON.search(text):
            self.complain(path, count, f"{count} lines; beyond {LONGEST} say why: `tidy: long, because ...`")
        for number, line in enumerate(lines, 1):
            open_end = OPEN_ENDS.search(line)
            if open_end:
                self.complain(path, number, f"{open_end.group(1)}: finish it, or write it where work is planned")
        if not is_in(path + "/", plain_english.NOT_YET) and path != "tests/plain_english.py":
            for line, what in plain_english.complaints(text, "c" if suffix in CXX else "script", path):
                self.complain(path, line, what)
        if suffix in CXX:
            self.check_cxx(path, text)

    def check_definitions(self, files):
        """Letters of memory-order arguments and words of the glossary mean one thing each."""
        texts = {path: (self.root / path).read_text(encoding="utf-8") for path in files
                 if is_in(path, ["src", "include", "lab", "tests/model"]) and
                 (pathlib.PurePosixPath(path).suffix in CXX or path.endswith("README.md"))}
        for path, line, what in definitions.letters(texts):
            self.complain(path, line, what)
        if "docs/glossary.md" in files:
            for line, what in definitions.words((self.root / "docs/glossary.md").read_text(encoding="utf-8")):
                self.complain("docs/glossary.md", line, what)

    def check_pages(self, files):
        """Pages are written in the same plain sentences as comments."""
        for path in files:
            if path.endswith(".md") and (is_in(path, ["docs", "src"]) or path == "README.md") and not is_in(path, ["docs/results"]):
                for line, what in plain_english.complaints_of_page((self.root / path).read_text(encoding="utf-8")):
                    self.complain(path, line, what)

    def check_public_headers(self, files):
        """A public header that the build does not list would be missing after installation."""
        listing = self.root / "src/CMakeLists.txt"
        listed = listing.read_text(encoding="utf-8") if listing.is_file() else ""
        for path in files:
            if path.startswith("include/") and path not in listed:
                self.complain(path, 1, "is not in the header set of src/CMakeLists.txt, so is not installed")

    def code_in(self, files, folder):
        """[(file, text without comments)] of a folder's C++ files."""
        return [(path, without_comments((self.root / path).read_text(encoding="utf-8"))) for path in files
                if is_in(path, [folder]) and pathlib.PurePosixPath(path).suffix in CXX]

    def names_in(self, files, folder, what):
        """[(file, line, name, is inside another)] of the types or functions that a folder's files define."""
        found = []
        for path, text in self.code_in(files, folder):
            matches = ((number, what.match(line)) for number, line in enumerate(text.split("\n"), 1))
            found += [(path, number, match.group(3), match.group(1, 2) != ("", "")) for number, match in matches if match]
        return found

    def check_named_types(self, files):
        """A friend or a forward declaration names a type of a layer that the file may not include."""
        code = [(path, layer_of(path), text) for folder in ("src", "lab", "include", "workloads", "bench")
                for path, text in self.code_in(files, folder) if layer_of(path)]
        defined_in = {}
        for _, layer, text in code:
            for match in map(DEFINED_TYPE.match, text.split("\n")):
                if match:
                    defined_in.setdefault(match.group(1), set()).add(layer)
        for path, layer, text in code:
            if path in NAME_INNER_CLASSES:
                continue
            for number, match in enumerate(map(NAMED_TYPE.match, text.split("\n")), 1):
                layers = defined_in.get(match.group(1), set()) if match else set()
                if layers and not layers & (closure(layer) | {"include"}):
                    self.complain(path, number, f"{match.group(1)} is of {sorted(layers)[0]}: {layer} may not "
                                                "include, and so not name, what that defines")

    def check_policies_are_one(self, files):
        for what in (TYPE, FUNCTION):
            policies = {name for _, _, name, is_inner in self.names_in(files, POLICY_FOLDER, what) if not is_inner}
            for path, number, name, _ in self.names_in(files, WITHOUT_POLICIES, what):
                if name in policies and name not in NO_DECISIONS:
                    self.complain(path, number, f"{name} is in {POLICY_FOLDER}: simulate that one, not another")

    def run(self):
        files = self.files()
        for path in files:
            self.check_file(path)
        self.check_definitions(files)
        self.check_pages(files)
        self.check_public_headers(files)
        self.check_named_types(files)
        self.check_policies_are_one(files)
        return self.violations


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    if not root.is_dir():
        print(f"tidy.py: {root} is no folder", file=sys.stderr)
        return 2
    violations = Checker(root).run()
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
