#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What <nigh/pstl.hpp> refuses, it refuses in one line that says what to do; what it accepts compiles.

    pstl_refusals_test.py CXX INCLUDE"""
import pathlib
import subprocess
import sys
import tempfile

USE = "#include <execution>\n#include <vector>\nvoid f(std::vector<int>& v) { std::sort(std::execution::par, v.begin(), v.end()); }\n"
PSTL = "#include <nigh/pstl.hpp>\n"
# name: source, options, words of the error (None: it compiles)
CASES = {
    "first": (PSTL + "#include <algorithm>\n" + USE, [], None),
    "by -include": ("#include <algorithm>\n" + USE, ["-include", "nigh/pstl.hpp"], None),
    "twice": (PSTL + PSTL + "#include <algorithm>\n" + USE, [], None),
    "after headers without algorithms": ("#include <vector>\n#include <cstdio>\n" + PSTL + "#include <algorithm>\n" + USE, [], None),
    "without an algorithm": (PSTL + "int main() {}\n", [], None),
    "after <algorithm>": ("#include <algorithm>\n" + PSTL + USE, [], "include <nigh/pstl.hpp> before <algorithm>"),
    "after <numeric>": ("#include <numeric>\n" + PSTL + USE, [], "include <nigh/pstl.hpp> before <algorithm>"),
    "after a header of nigh without algorithms": ("#include <nigh/parallel_for.hpp>\n" + PSTL + "#include <algorithm>\n" + USE, [], None),
    "after another header of nigh": ("#include <nigh/algorithm.hpp>\n" + PSTL, [], "include <nigh/pstl.hpp> before <algorithm>"),
    "C++17": (PSTL + USE, ["-std=c++17"], "nigh needs C++20"),
    "libc++": (PSTL + USE, ["-D_LIBCPP_VERSION=190000"], "libc++ has parallel algorithms of its own"),
    "a later libstdc++": (PSTL + USE, ["-Ilater"], "define NIGH_PSTL_ANY_VERSION"),
    "a later libstdc++ all the same": (PSTL + "#include <algorithm>\n" + USE, ["-Ilater", "-DNIGH_PSTL_ANY_VERSION"], None),
}
LATER = "#pragma GCC system_header\n#include_next <version>\n#undef _GLIBCXX_RELEASE\n#define _GLIBCXX_RELEASE 99\n"


def problem(compiler, include, folder, source, options, words):
    (folder / "case.cpp").write_text(source, encoding="utf-8")
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", *options, "case.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    first = next((line for line in done.stderr.splitlines() if "error" in line), "")
    if words is None:
        return None if done.returncode == 0 else f"does not compile: {first}"
    if done.returncode == 0:
        return "compiles"
    return None if words in first else f"'{words}' is not in the first error: {first}"


def main():
    compiler, include = sys.argv[1:]
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "later").mkdir()
        (folder / "later/version").write_text(LATER, encoding="utf-8")
        for case, (source, options, words) in CASES.items():
            found = problem(compiler, include, folder, source, options, words)
            print(f"{'FAILED' if found else 'ok':<7}{case}{': ' + found if found else ''}", flush=True)
            wrong += found is not None
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
