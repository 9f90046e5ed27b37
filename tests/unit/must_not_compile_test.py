#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that must not compile do not, and the compiler says why.

    must_not_compile_test.py COMPILER INCLUDE [FILE]

FILE has calls, each after a comment with words of the error that it must give. One run of the compiler sees them all: each call's
error must come, and where several expect the same one, each line must be named; without the calls, the file must compile."""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def compiled(compiler, include, text):
    all_errors = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    done = subprocess.run([compiler, all_errors, "-ftemplate-backtrace-limit=0", "-std=c++20", "-fsyntax-only", f"-I{include}",
                           "-x", "c++", "-"], input=text, capture_output=True, text=True, check=False,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return done.returncode == 0, done.stderr


def main():
    compiler, include = sys.argv[1:3]
    file = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else HERE / "must_not_compile.cpp"
    lines = file.read_text(encoding="utf-8").splitlines()
    calls = {}  # {line of the call: words of its error}
    for number, line in enumerate(lines, 1):
        if comment := re.match(r"  // (.+)", line):
            calls[number + 1] = comment[1]
    wrong = []
    begin = next(n for n, line in enumerate(lines) if line.startswith("void wrong_calls()"))
    fine, said = compiled(compiler, include, "\n".join(lines[:begin]) + "\n")
    if not fine:
        wrong.append(f"without its calls, {file.name} does not compile:\n{said}")
    fine, said = compiled(compiler, include, "\n".join(lines) + "\n")
    if fine:
        wrong.append(f"{file.name} compiles")
    errors = [line for line in said.splitlines() if " error: " in line]
    for words in sorted(set(calls.values())):
        if not any(words in line for line in errors):
            wrong.append(f"no error says {words!r}")
    wanted = list(calls.values())
    for number, words in calls.items():  # clang does not say of all errors which call they come from
        if f"<stdin>:{number}:" not in said and wanted.count(words) > 1:
            wrong.append(f"line {number} compiles, which should say {words!r}")
    # clang goes on after an assertion, and may also dislike the line that it protects.
    beside = [line for line in errors if not any(words in line for words in calls.values())]
    if len(beside) > len(calls) / 4:
        wrong += [f"an error beside the expected ones: {line}" for line in beside]
    print("\n".join(wrong) or f"{len(calls)} calls are refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
