#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file in docs/examples is built on an installed nigh, which has been moved, runs, and prints what its page shows.

    examples_test.py BUILD [CMAKE]

Each C, C++ and Fortran program is built by find_package, and not optimised. commands_test.py runs the lines of the pages that
compile one, and the pages' own commands, on emulated machines, under `nigh trace` and `nigh run` where these are shown. What it
does not compile is compiled here once more, by pkg-config or mpicxx. The output must be the one that the page shows below
`shows`, by the rule of shown.py. A file that is not in EXAMPLES fails the test: add a row with its page, the command whose output
the page has, and the same command for any machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import typing

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import installed  # noqa: E402
import known_commands  # noqa: E402
import shown  # noqa: E402

ROOT = shown.ROOT


class Example(typing.NamedTuple):
    page: str
    shows: str  # the command
    run: str  # the program is {program}
    openmp: bool = False
    aside: typing.Optional[str] = None  # lines of the page or the output that this run does not have, or has beside
    compare: typing.Callable = shown.difference
    needs: typing.Optional[str] = None  # a header; where the compiler does not find it, this one is left out


EXAMPLES = {
    "algorithms.cpp": Example("docs/algorithms.md", "./algorithms", "{program}"),
    "cluster_fib.cpp": Example("docs/cluster.md", "tests/cluster/hosts --hosts 2 -- ./cluster_fib 35", "{mpirun} -n 2 {program} 27",
                               compare=shown.missing),  # the ranks print in either order
    "debug_me.cpp": Example("docs/debugging.md", "./debug_me", "{program}"),
    "fib.c": Example("docs/c-api.md", "./fib 30", "{program} 30"),
    "fib.f90": Example("docs/c-api.md", "./fib 30", "{program} 30"),
    "fib_tasks.c": Example("docs/trace.md", "OMP_NUM_THREADS=2 nigh trace --tasks prefer -- ./fib 27",
                           "OMP_NUM_THREADS=2 nigh trace --tasks prefer -- {program} 27", True, "^within|^steal|^fib_tasks|^fib._omp|^nigh: "),
    "first_loop.cpp": Example("docs/loops.md", "./first_loop", "{program}"),
    "first_touch.c": Example("docs/numa-vm.md", "numa-vm --nodes 4 --cores 2 --meter -- ./first_touch parallel",
                             "OMP_PROC_BIND=close {program} parallel", True, "^locality:"),
    "from_onetbb.cpp": Example("docs/from-onetbb.md", "./from_onetbb", "{program}"),
    "from_openmp.cpp": Example("docs/from-openmp.md", "./from_openmp", "{program}", True),
    "from_taskflow_rayon.cpp": Example("docs/from-taskflow-rayon.md", "./from_taskflow_rayon", "{program}"),
    "near_data.cpp": Example("docs/guide/README.md", "numa-vm --nodes 4 --cores 2 -- ./near_data", "{program}"),
    "nested_regions.cpp": Example("docs/spread.md", "nigh run --spread 2 --spreads spreads.json -- ./nested_regions",
                                  "OMP_WAIT_POLICY=passive nigh run --no-coordinator --spread 2 -- {program}", True, "^nigh: "),
    "parallel_scheduler.cpp": Example("docs/parallel-scheduler.md", "./parallel_scheduler", "{program}", needs="stdexec/execution.hpp"),
    "per_worker.cpp": Example("docs/from-openmp.md", "./per_worker", "{program}", True),
    "placed_array.cpp": Example("docs/memory.md", "numa-vm --nodes 4 --cores 2 -- ./placed_array", "{program}"),
    "queens.cpp": Example("docs/trace.md", "nigh trace -- ./queens 12", "nigh trace -- {program} 12", False, "^within|^steal|^nigh: trace"),
    "scan.cpp": Example("docs/report.md", "nigh report -- ./scan 20", "nigh report -- {program} 20", True, "^nigh: "),
    "sorts.cpp": Example("docs/sorts.md", "./sorts", "{program}"),
    "spread_site.cpp": Example("docs/spread.md", "./spread_site", "{program}",
                                compare=known_commands.on_any_load),
    "standard_algorithms.cpp": Example("docs/pstl.md", "./standard_algorithms", "{program}"),
    "sum_rows.cpp": Example("docs/openmp-locality-queues.md", "OMP_PROC_BIND=close ./sum_rows", "OMP_PROC_BIND=close {program}",
                            True),
    "sum_tree.cpp": Example("docs/tasks.md", "c++ -std=c++20 -O2 sum_tree.cpp -o sum_tree $(pkg-config --cflags --libs nigh) "
                            "&& ./sum_tree", "{program}"),
    "train.py": Example("README.md", "for i in 1 2 3 4; do nigh run -- python train.py & done; wait",
                        "nigh run -- {python} {program} 3"),
}
MPIS = ("openmpi", "mpich")
COMPILERS = r"(?:cc|gcc|c\+\+|g\+\+|gfortran)"


def is_here(header):
    return header is None or subprocess.run(["g++", "-E", "-x", "c++", "-"], input=f"#include <{header}>\n", text=True,
                                            capture_output=True, check=False).returncode == 0


def output_shown(example):
    for command in shown.commands(ROOT / example.page):
        if command.text == example.shows and command.output:
            return command.output
    return None


def compile_lines(name, example):
    """The commands of the page that compile this file."""
    found = []
    for command in shown.commands(ROOT / example.page):
        first = command.text.split("&&")[0].strip()
        if "-fsanitize" not in first and re.match(COMPILERS + r"\s", first) and re.search(rf"\s{re.escape(name)}\s", first):
            found.append(first)
    return found


def mpi_lines():
    """{MPI: the line of docs/cluster.md that compiles for it}"""
    text = " ".join((ROOT / "docs/cluster.md").read_text(encoding="utf-8").split())
    return {mpi: line for line, mpi in re.findall(r"`(mpicxx\.(\w+) -std[^`]*)`", text)}


class Examples:
    def __init__(self, place, cmake):
        self.place, self.cmake = place, cmake
        self.here = place.folder("examples")
        for path in filter(pathlib.Path.is_file, (ROOT / "docs/examples").iterdir()):
            shutil.copy(path, self.here)
        self.shell = installed.Shell(self.here, place.environment(self.here))
        self.wrong, self.ran = [], 0

    def sh(self, command, seconds=120):
        status, output = self.shell.run(command, seconds)
        return status, output

    def built(self, what, command):
        status, output = self.sh(command)
        if status != 0:
            self.wrong.append(f"{what}: exits with {status}: {command}\n{output}")
        return status == 0

    def runs(self, name, how, example, program, **more):
        command = example.run.format(program=program, **more)
        began = time.monotonic()
        status, output = self.sh(command)
        self.ran += 1
        lines = output_shown(example)
        problem = f"{example.page} does not show: {example.shows}" if lines is None else (
            f"exits with {status}" if status != 0 else example.compare(lines, output.splitlines(), example.aside))
        print(f"{'FAILED' if problem else 'ok':<7}{time.monotonic() - began:5.1f} s {name}, {how}: {command}", flush=True)
        if problem:
            self.wrong.append(f"{name}, {how}: {command}: {problem}\n{output}")

    def by_find_package(self, names):
        """One project with all of them: the environment names no folder of nigh other than CMAKE_PREFIX_PATH."""
        fortran = shutil.which("gfortran") and list(self.place.prefix.rglob("nigh.mod"))
        lines = ["cmake_minimum_required(VERSION 3.25)", f"project(examples C CXX {'Fortran' if fortran else ''})",
                 "set(CMAKE_BUILD_TYPE Debug)", "find_package(OpenMP REQUIRED)",
                 f"find_package(nigh 0.2 REQUIRED {'COMPONENTS fortran' if fortran else ''})"]
        found = {}
        for name in names:
            kind = {".c": "C", ".cpp": "CXX"}.get(pathlib.Path(name).suffix)
            if kind is None and not fortran:
                continue
            target = name.replace(".", "_")
            library = "nigh::nigh" if kind else "nigh::fortran"
            openmp = f" OpenMP::OpenMP_{kind}" if EXAMPLES[name].openmp else ""
            lines += [f"add_executable({target} ../{name})", f"target_link_libraries({target} PRIVATE {library}{openmp})"]
            if kind == "CXX":
                lines.append(f"target_compile_features({target} PRIVATE cxx_std_20)")
            found[name] = f"./project/build/{target}"
        project = self.here / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        only = "env -u CPATH -u LIBRARY_PATH -u LD_LIBRARY_PATH -u PKG_CONFIG_PATH"
        if self.built("find_package", f"{only} {self.cmake} -G Ninja -S project -B project/build >project/log 2>&1 && "
                      f"{only} {self.cmake} --build project/build >>project/log 2>&1 || {{ cat project/log; false; }}"):
            for name, program in found.items():
                self.runs(name, "find_package", EXAMPLES[name], program)

    def by_page(self, name):
        """As the page says; a page that only runs a program gets the usual line."""
        example = EXAMPLES[name]
        openmp = "-fopenmp " if example.openmp else ""
        usual = f"g++ -std=c++20 -O2 {openmp}{name} -o program $(pkg-config --cflags --libs nigh)"
        for line in compile_lines(name, example) or [usual]:
            line = line.replace("/usr/local", str(self.place.prefix))
            to = re.search(r" -o (\S+)", line)
            if line.startswith("gfortran") and not list(self.place.prefix.rglob("nigh.mod")):
                continue
            if self.built(name, line):
                self.runs(name, "as the page says", example, f"./{to[1]}")

    def by_mpi(self, name):
        for mpi, line in mpi_lines().items():
            if not shutil.which(f"mpicxx.{mpi}") or not list(self.place.prefix.rglob(f"libnigh_ranks_{mpi}.*")):
                print(f"not here: {mpi}")
                continue
            line = f"{line.replace('prog.cpp', name)} -o program_{mpi}"
            more = " --oversubscribe" if mpi == "openmpi" else ""
            if self.built(f"{name}, {mpi}", line):
                self.runs(name, mpi, EXAMPLES[name], f"./program_{mpi}", mpirun=f"mpirun.{mpi}{more}")
        if set(mpi_lines()) != set(MPIS):
            self.wrong.append("docs/cluster.md should show how to compile for each of: " + ", ".join(MPIS))

    def python(self, name):
        for python in (ROOT / "build/foreign/bin/python", "/usr/bin/python3", sys.executable):
            if os.path.exists(python) and subprocess.run([python, "-c", "import sklearn"], capture_output=True,
                                                         check=False).returncode == 0:
                self.runs(name, "Python", EXAMPLES[name], name, python=python)
                return
        if "NIGH_REQUIRE_PROGRAMS" in os.environ:
            self.wrong.append(f"{name}: no Python here has scikit-learn")
        print(f"skipped {name}: no Python here has scikit-learn")


def main():
    build, cmake = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cmake"
    files = {path.name for path in (ROOT / "docs/examples").iterdir() if path.is_file()}  # notebooks have a test of their own
    wrong = [f"docs/examples/{name} is not in EXAMPLES" for name in sorted(files - set(EXAMPLES))]
    wrong += [f"EXAMPLES has {name}, docs/examples has not" for name in sorted(set(EXAMPLES) - files)]
    with installed.Installed(build, cmake) as place:
        examples = Examples(place, cmake)
        programs = [name for name in EXAMPLES if name in files and name not in ("cluster_fib.cpp", "train.py")]
        for name in [name for name in programs if not is_here(EXAMPLES[name].needs)]:
            print(f"{name}: left out, for <{EXAMPLES[name].needs}> is not found (CPLUS_INCLUDE_PATH)", flush=True)
            programs.remove(name)
        examples.by_find_package(programs)
        for name in programs:
            if EXAMPLES[name].needs or not compile_lines(name, EXAMPLES[name]):
                examples.by_page(name)
        examples.by_mpi("cluster_fib.cpp")
        examples.python("train.py")
        wrong += examples.wrong
    print("\n".join(wrong))
    print(f"{len(files)} examples, {examples.ran} runs, {len(wrong)} complaints")
    return 1 if wrong or examples.ran < len(programs) else 0


if __name__ == "__main__":
    sys.exit(main())
