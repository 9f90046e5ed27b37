#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sanitizers_test.py FOLDER_OF_LIBNIGH COMPILER thread|address: programs built with a sanitizer, on a libnigh.so without one.

The program of all features (features.cpp and what it is made of) must run without a report, and each program of mistakes
must get its report, so that silence means something. `address` is AddressSanitizer with LeakSanitizer and
UndefinedBehaviorSanitizer (clang's also looks at the types of called functions). Exit status 77: the compiler has no such
sanitizer, or the kernel does not let it run."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FEATURES = ("features.cpp", "tasks.cpp", "threads.cpp", "loops.cpp", "algorithms.cpp", "c_interface.cpp")
FLAGS = {"thread": ["-fsanitize=thread"], "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]}
REPORTS = {
    "thread": {name: "WARNING: ThreadSanitizer: data race" for name in
               ("in_fork_join", "before_wait", "in_a_loop", "neighbours", "between_queued_tasks")},
    "address": {"overflow": "AddressSanitizer: heap-buffer-overflow", "after_return": "AddressSanitizer: heap-use-after-free",
                "leak": "LeakSanitizer: detected memory leaks", "wrong_shift": "runtime error: shift exponent"},
}
OF_LOOPS = ("in_a_loop", "neighbours")
MISTAKES = {"thread": "races.cpp", "address": "memory.cpp"}
ANY_REPORT = ("Sanitizer", "runtime error")


def around():
    """ThreadSanitizer's memory layout does not fit every kernel's address randomisation."""
    command = ["setarch", "-R"]
    works = shutil.which("setarch") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else []


class Sanitizer:
    def __init__(self, library, compiler, name, work):
        self.library, self.compiler, self.name, self.work = library, compiler, name, work
        self.before = around() if name == "thread" else []

    def compile(self, to, *sources):
        return subprocess.run(
            [self.compiler, "-std=c++20", "-O1", "-g", *FLAGS[self.name], f"-I{ROOT}/include", *sources, "-pthread",
             f"-L{self.library}", "-lnigh", f"-Wl,-rpath,{self.library}", "-o", self.work / to],
            capture_output=True, text=True, check=False)

    def run(self, program, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NIGH_")}
        done = subprocess.run([*self.before, self.work / program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False, timeout=500, env=environment)
        return done.returncode, done.stdout

    def is_here(self):
        """Why it is not, or None."""
        empty = self.work / "empty.cpp"
        empty.write_text("int main() {}\n", encoding="utf-8")
        made = self.compile("empty", empty)
        if made.returncode != 0:
            return f"{self.compiler} builds no program with {FLAGS[self.name][0]}: {made.stderr.strip().splitlines()[-1]}"
        status, output = self.run("empty")
        return f"a program with {FLAGS[self.name][0]} does not run here: {output.strip()[:300]}" if status != 0 else None


def main():
    library, compiler, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    if not shutil.which(compiler):
        print(f"skipped: there is no {compiler} here")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nigh-sanitizers-") as folder:
        sanitizer = Sanitizer(library, compiler, name, pathlib.Path(folder))
        if absent := sanitizer.is_here():
            print(f"skipped: {absent}")
            return 77
        for program, sources in (("features", FEATURES), ("mistakes", (MISTAKES[name],))):
            made = sanitizer.compile(program, *(HERE / source for source in sources))
            if made.returncode != 0:
                print(made.stderr)
                return 1
        status, output = sanitizer.run("features")
        print(output)
        if status != 0 or any(word in output for word in ANY_REPORT):
            wrong.append(f"features: exit status {status}, or a report where nothing is wrong")
        two = len(os.sched_getaffinity(0)) > 1
        for mistake, report in REPORTS[name].items():
            if mistake in OF_LOOPS and not two:
                print(f"{mistake:<28} not tried: on one cpu a loop has one thread")
                continue
            found = False
            for _ in range(3):  # a detector sees the two accesses of most runs
                status, output = sanitizer.run("mistakes", mistake)
                found = found or (status != 0 and report in output)
                if found:
                    break
            print(f"{mistake:<28} {'found' if found else 'NOT FOUND'}")
            if not found:
                wrong.append(f"{mistake}: exit status {status}, without: {report}\n{output}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
