#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random task graphs, compiled as a user would, plain and under nigh:

    graphs_test.py NIGH FOLDER [--first SEED] [--count N] [--seconds N] [-- WORD...]

FOLDER is for what is compiled. WORDs go to nigh run; default: none. Each graph's checksum must be that of the
same source compiled without OpenMP, with 1, 2, 4 and 8 threads. A graph on which a compiler's own runtime
fails is not tried under nigh, and at most one in twenty may be one of these. --seconds: no new graphs are begun after
so long. At the end a runtime that is broken on purpose must be noticed."""
import argparse
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")
TOGETHER = 20  # graphs in one program
COMPILERS = {"gcc": ("gcc",), "clang": ("clang-19", "clang")}
PLAIN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}


def compiler(which):
    for name in COMPILERS[which]:
        if shutil.which(name):
            return name
    return None


def compile_to(file, source, words):
    subprocess.run([*words, "-w", "-pthread", "-I", HERE, source, "-o", file], check=True, timeout=300)


class Ended(Exception):
    """A program that did not end well."""


def run(command, threads, limit, **environment):
    """{seed: what the program said of it}"""
    try:
        done = subprocess.run(command, env=dict(PLAIN, OMP_NUM_THREADS=str(threads), **environment), text=True,
                              capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as e:
        said = (e.stdout or b"").decode().splitlines()
        raise Ended(f"not after {limit} s; the last line was {said[-1] if said else 'none'}") from e
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[:1].isdigit())
    if done.returncode not in (0, 1) or not lines:
        raise Ended(f"status {done.returncode}, {done.stderr[-300:]}")
    return lines


class Programs:
    """One source of several graphs: the sequential answers, and a program for each compiler."""

    def __init__(self, folder, first, count):
        self.first, self.count = first, count
        optimised = ("-O1", "-O0")[first // TOGETHER % 2]  # -O1 takes a compiler three to eight times as long
        source = os.path.join(folder, f"graphs{first}.c")
        with open(source, "w", encoding="utf-8") as text:
            subprocess.run([sys.executable, "-B", os.path.join(HERE, "generate.py"), str(first), str(count)],
                           stdout=text, check=True)
        self.files = [source]
        self.programs = {}
        serial = os.path.join(folder, f"serial{first}")
        compile_to(serial, source, [compiler("gcc") or compiler("clang")])
        self.files.append(serial)
        self.expected = run([serial], 1, 60)
        for which in COMPILERS:
            if compiler(which):
                self.programs[which] = os.path.join(folder, f"{which}{first}")
                compile_to(self.programs[which], source, [compiler(which), "-fopenmp", optimised])
                self.files.append(self.programs[which])

    def wrong(self, said):
        return [seed for seed, answer in self.expected.items() if said.get(seed) != answer]

    def well_behaved(self, which):
        """Seeds on which the compiler's own runtime is right."""
        good = []
        right = set(self.expected)  # also behind each other, as they run under nigh
        try:
            for threads in (1, 2, 4, 8):
                right -= set(self.wrong(run([self.programs[which]], threads, 60)))
            if len(right) == len(self.expected):
                return list(self.expected)
        except Ended:
            pass
        for seed in sorted(right):
            try:
                if all(run([self.programs[which], seed], threads, 20).get(seed) == self.expected[seed]
                       for threads in (1, 2, 4, 8) for _ in range(2)):
                    good.append(seed)
            except Ended:
                pass
        return good

    def remove(self):
        for file in self.files:
            os.remove(file)


def try_under_nigh(nigh, words, programs, which, seeds):
    """Complaints."""
    for threads in (1, 2, 4, 8):
        command = [nigh, "run", *words, "--", programs.programs[which], *seeds]
        try:
            said = run(command, threads, 120)
        except Ended as e:
            yield f"{which}, {threads} threads, seeds {seeds[0]} to {seeds[-1]}: {e}"
            continue
        for seed in seeds:
            if said.get(seed) != programs.expected[seed]:
                yield f"{which}, {threads} threads, seed {seed}: {said.get(seed)}, not {programs.expected[seed]}"


def noticed(folder, programs):
    """Complaints, if a runtime without waits or without dependences passes for a right one."""
    library = os.path.join(folder, "broken_runtime.so")
    compile_to(library, os.path.join(HERE, "broken_runtime.c"),
               [compiler("gcc") or compiler("clang"), "-shared", "-fPIC", "-ldl"])
    for which, program in programs.programs.items():
        for what in ("taskwait", "depend"):
            for _ in range(20):
                try:
                    if programs.wrong(run([program], 4, 30, LD_PRELOAD=library, BROKEN=what)):
                        break
                except Ended:
                    break
            else:
                yield f"{which}: a runtime without {what} was not noticed"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("nigh")
    options.add_argument("folder")
    options.add_argument("--first", type=int, default=1)
    options.add_argument("--count", type=int, default=40)
    options.add_argument("--seconds", type=float, default=1e9)
    ours, words = sys.argv[1:], []
    if "--" in ours:
        ours, words = ours[:ours.index("--")], ours[ours.index("--") + 1:]
    o = options.parse_args(ours)
    os.makedirs(o.folder, exist_ok=True)
    started, complaints, tried, left_out = time.monotonic(), [], {}, {}
    for first in range(o.first, o.first + o.count, TOGETHER):
        if time.monotonic() - started > o.seconds:
            break
        programs = Programs(o.folder, first, min(TOGETHER, o.first + o.count - first))
        for which in programs.programs:
            seeds = programs.well_behaved(which)
            tried[which] = tried.get(which, 0) + len(seeds)
            left_out.setdefault(which, []).extend(seed for seed in programs.expected if seed not in seeds)
            for complaint in try_under_nigh(o.nigh, words, programs, which, seeds) if seeds else ():
                print(complaint, flush=True)
                complaints.append(complaint)
        if first == o.first:
            complaints += noticed(o.folder, programs)
        if not complaints:
            programs.remove()
    for which, count in tried.items():
        bad = left_out[which]
        print(f"{which}: {count} graphs; {len(bad)} left out, plain they are wrong: {' '.join(bad)}")
        if len(bad) > max(2, (count + len(bad)) // 20):
            complaints.append(f"{which}: too many graphs on which its own runtime is wrong")
    if not tried:
        print("no compiler: skipped")
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
