#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of .cli files and compares what they print: run.py BIN_DIR FILE.cli...

    # comment
    $ command            run by bash in an empty folder, BIN_DIR first in PATH, $DATA = tests/data
    expected line        of standard output, exactly; `...` inside stands for any text
    ...                  alone: any number of lines
    ! expected line      of standard error, likewise; without any, it must be empty
    ? 2                  expected exit status; 0 when not given
"""
import os
import re
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")


def cases_of(text):
    """[(line number, command, stdout lines, stderr lines, status)]"""
    cases = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            cases.append((number, line[2:], [], [], [0]))
        elif line.startswith("#") or not cases:
            continue
        elif line.startswith("! "):
            cases[-1][3].append(line[2:])
        elif re.fullmatch(r"\? \d+", line):
            cases[-1][4][0] = int(line[2:])
        else:
            cases[-1][2].append(line)
    for case in cases:  # blank lines before the next command are layout
        while case[2] and not case[2][-1]:
            case[2].pop()
    return [(n, command, out, err, status[0]) for n, command, out, err, status in cases]


def pattern_of(lines):
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("[^\n]*?".join(map(re.escape, line.split("..."))) + r"\n")
    return re.compile("".join(parts))


def matches(lines, text):
    return pattern_of(lines).fullmatch(text if not text or text.endswith("\n") else text + "\n")


def failures_of(path, environment):
    with open(path, encoding="utf-8") as file:
        cases = cases_of(file.read())
    if not cases:
        return [f"{path}: no command in it"]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for number, command, out, err, status in cases:
            try:
                run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                     timeout=240)
            except subprocess.TimeoutExpired:
                failures.append(f"{path}:{number}: $ {command}\n  still running after 240 s")
                continue
            wrong = []
            if run.returncode != status:
                wrong.append(f"  exit status {run.returncode}, expected {status}")
            for name, lines, text in (("stdout", out, run.stdout), ("stderr", err, run.stderr)):
                if not matches(lines, text):
                    expected = "".join(f"    {line}\n" for line in lines)
                    actual = "".join(f"    {line}\n" for line in text.splitlines())
                    wrong.append(f"  {name}, expected:\n{expected}  and got:\n{actual}".rstrip())
            if wrong:
                failures.append("\n".join([f"{path}:{number}: $ {command}"] + wrong))
    return failures


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    environment = dict(os.environ, DATA=DATA, LC_ALL="C.UTF-8", NIGH_COORDINATOR="off",
                       NIGH_SOCKET="/nonexistent/nighd.sock", NIGH_PROFILES="profiles",
                       PATH=os.path.abspath(sys.argv[1]) + os.pathsep + os.environ["PATH"])
    failures = [f for path in sys.argv[2:] for f in failures_of(path, environment)]
    print("\n".join(failures) if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
