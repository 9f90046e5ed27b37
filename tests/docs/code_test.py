#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that the pages show is code: each block of C++, C, Fortran, Python, CMake, JSON and shell is an excerpt of a file in
docs/examples, or compiles against the installed headers, as a whole program or in the frame that FRAMES gives it.

    code_test.py BUILD [CMAKE]

A block that is none of these is a failure. To add one: put the program into docs/examples and show its lines, or add a row to
FRAMES, found by words of the block."""
import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import installed  # noqa: E402
import shown  # noqa: E402

LANGUAGES = {"cpp", "c", "fortran", "python", "cmake", "json", "bash", "sh"}
STENCIL = "#include <nigh/stencil.hpp>\nstd::size_t n = 8, nx = 8, ny = 8;\n"
SPREAD = ("#include <nigh/task_loop.hpp>\nstd::size_t blocks = 4; int steps = 1;\n"
          "auto body = [](std::size_t, nigh::team const&) {};\nvoid relax(std::size_t) {}\n"
          "std::size_t first_row(std::size_t) { return 0; }\nstd::size_t last_row(std::size_t) { return 1; }\n")
LOOPS = ("#include <nigh/parallel_for.hpp>\n#include <nigh/parallel_reduce.hpp>\n#include <nigh/array.hpp>\n"
         "#include <atomic>\n#include <functional>\n#include <string>\n#include <vector>\nint n = 9; double a = 2;\n")
# (words of the block, what comes before it, whether it stands in a function)
FRAMES = [
    ("y[i] += a * x[i]; });\nnigh::parallel_for(std::size_t{0}, planes", LOOPS +
     "std::vector<double> x(9), y(9); std::size_t planes = 3, plane = 4;\nnigh::array<double> grid(planes * plane);\n"
     "auto relax = [](std::size_t) {};\n", True),
    ("y[i] += a * x[i]; });", LOOPS + "std::vector<double> x(9), y(9);\n", True),
    ("nigh::dynamic_schedule(16)", LOOPS + "auto body = [](int) {};\n", True),
    ("nigh::loop_flow::leave", LOOPS + "std::vector<std::string> names; std::string wanted; std::atomic<std::size_t> found;\n", True),
    ("double total = 0;\n#pragma omp", "#include <vector>\nstd::vector<double> x; std::size_t n;\n", True),
    ("double const total = nigh::parallel_reduce(x, nigh::sum)", "#include <cmath>\n" + LOOPS + "std::vector<double> x;\n", True),
    ("double const total = nigh::parallel_reduce(", LOOPS.replace("int n = 9", "std::size_t n = 9") + "std::vector<double> x;\n",
     True),
    ("auto grid = last ?", "#include <utility>\n#include <vector>\nstd::vector<double> first_grid();\nvoid advance(std::vector<double>&);\n",
     False),
    ("double const same = nigh::parallel_reduce(", LOOPS.replace("int n = 9", "std::size_t n = 9") + "std::vector<double> x;\n",
     True),
    ("static void scale(size_t first", "", False),
    ("next[at(i, j, k)]", LOOPS + "std::size_t side = 4; std::vector<double> grid, next;\n"
     "std::size_t at(std::size_t, std::size_t, std::size_t) { return 0; }\n"
     "double neighbours(std::vector<double> const&, std::size_t, std::size_t, std::size_t) { return 1; }\n", True),
    ("relax(u, i); }, planes", LOOPS.replace("int n = 9", "std::size_t n = 9") +
     "void relax(nigh::array<double>&, std::size_t) {}\n", True),
    ("void in_order(std::vector<double>& v)", "", False),
    ("domain %d: %zu cpus", "#include <cstdio>\n", True),
    ("std::fprintf(stderr, \"%s\\n\", other.message()", "#include <nigh/topology.hpp>\n#include <cstdio>\n", True),
    ("nigh::after(a, b), [&] { return add(a.get(), b.get())", "#include <nigh/task_scope.hpp>\nint read_field(char const*);\n"
     "int add(int, int); char log[9]; void write(char*, int); void use(int);\n", True),
    ("runtime.spawn(nigh::near(&field[i], bytes)",
     "#include <nigh/runtime.hpp>\ndouble field[9]; std::size_t i = 1, bytes = 8; void update(std::size_t);\n", True),
    ("nigh::fork_join([&] { return sum(first); }",
     "#include <nigh/fork_join.hpp>\nint sum(int); int first, second;\n", True),
    ("nigh::page_report r", "std::size_t n = 64, nx = 2, ny = 2, i = 1, k = 1;\n", True),
    ("here.order(nigh::cpu_order::scatter", "#include <cstdio>\ntemplate <class A, class B> void use(A const&, B const&) {}\n",
     True),
    ("nigh::near::at_queue(2)", "#include <nigh/runtime.hpp>\nauto f = [] {}; auto g = f; double field[9]; int i;\n", True),
    ("{.spread = nigh::spread(4)}", SPREAD, True),
    ("{.site = &site}", SPREAD, True),
    ("MPI_Allreduce", SPREAD + "typedef int MPI_Comm; enum { MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD };\n#define MPI_IN_PLACE nullptr\n"
     "int MPI_Allreduce(void const*, void*, int, int, int, int);\n", True),
    ("for (int sweep = 0; sweep < 4; ++sweep)", "#include <cstddef>\nstd::size_t blocks, rows; void relax(std::size_t, std::size_t);\n",
     True),
    ("heat.run(100, [&](std::size_t step", STENCIL +
     "struct grid { double& operator()(std::size_t, std::size_t, std::size_t); double const& operator()(std::size_t, std::size_t, "
     "std::size_t) const; } u[2];\ndouble average(grid const&, std::size_t, std::size_t, std::size_t);\n", True),
    ("std::span<nigh::stencil_piece<3> const> pieces", STENCIL + "nigh::stencil<3> heat({.points = {8, 8, 8}});\n"
     "void update_at(std::size_t, nigh::box<3> const&, std::size_t);\n", True),
    ("{.boundaries = {nigh::boundary::fixed", "#include <nigh/time_grid.hpp>\nstd::size_t nx = 8, ny = 8;\n", True),
    ("{.checked = true}", STENCIL + "struct { double& operator()(int, int, int); } u[2];\n", True),
]
# Fortran: in a module.
FORTRAN = "module frame\n  use, intrinsic :: iso_c_binding\n  implicit none\ncontains\n{body}end module\n"
# Blocks that no compiler can read, and why.
NOT_CODE = {
    "nigh::parallel_for(0, n, [&](int i) {\nfor (int i": "two programs side by side; each comes again below, where it is compiled",
    "nigh_mpi_target(my_program": "functions of the repository's own CMake files, used in tests/cluster/CMakeLists.txt",
    "double const wrong = nigh::parallel_reduce(v, 0": "shown because it does not compile; tests/unit/must_not_compile.cpp has it",
    "srun --mpi=pmix": "a job for Slurm; tests/cluster/hosts starts ranks by the same options",
    "\"title\": \"two sockets\"": "has dots for what a page does not repeat; machines/*.json are whole",
    "PRIVATE nigh::pstl": "tests/install/consumer has these lines",
    "-DCMAKE_PREFIX_PATH=$HOME/nigh": "tests/docs/examples_test.py builds by these lines",
}


def stripped(text):
    return [line.strip() for line in text.splitlines() if line.strip() and line.strip() != "..."]


def is_excerpt(text, of):
    """Its lines come in this order there, indentation aside."""
    rest = iter(stripped(of))
    return all(line in rest for line in stripped(text))


def compiles(place, here, block):
    """None, or what is wrong."""
    kind = {"c": "c", "fortran": "f90"}.get(block.language, "cpp")
    text = block.text
    if kind == "f90" and "program " not in text:
        text = FORTRAN.format(body=text)
    elif not re.search(r"^\s*(int main\(|program \w)", text, re.MULTILINE):
        frame = next((frame for frame in FRAMES if frame[0] in text), None)
        if not frame:
            return "is neither an excerpt of an example nor a whole program, and has no row in FRAMES"
        includes = "".join(line + "\n" for line in text.splitlines() if line.startswith("#include"))
        body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#include"))
        text = includes + frame[1] + (f"void frame() {{\n{body}}}\n" if frame[2] else body)
    source = here / f"block.{kind}"
    source.write_text(text, encoding="utf-8")
    compiler = {"c": ["gcc", "-std=c99"], "f90": ["gfortran"]}.get(kind, ["g++", "-std=c++20"])
    done = subprocess.run([*compiler, "-fopenmp", "-fsyntax-only", source], env=place.environment(here), capture_output=True,
                          text=True, cwd=here, check=False)
    return None if done.returncode == 0 else "does not compile:\n" + done.stderr[:1500]


def complaint(place, here, block):
    if any(words in block.text for words in NOT_CODE):
        return None
    for example in filter(pathlib.Path.is_file, (shown.ROOT / "docs/examples").iterdir()):
        if is_excerpt(block.text, example.read_text(encoding="utf-8")):
            return None
    if block.language == "json":
        json.loads(block.text)
        return None
    if block.text.startswith(">>>"):
        return None  # a session: tests/python/page_test.py runs it
    if block.language == "python":
        return names_of_module(block.text)
    return compiles(place, here, block)


def names_of_module(text):
    """Python: it compiles, and what it uses of nigh is there. The module itself needs the wheel's metadata, so it is read."""
    compile(text, "block", "exec")
    tree = ast.parse((shown.ROOT / "python/nigh/__init__.py").read_text(encoding="utf-8"))
    there = {name for node in ast.walk(tree) for name in (
        [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else
        [alias.asname or alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else
        [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else [])}
    lacking = [name for name in re.findall(r"\bnigh\.(\w+)", text) if name not in there]
    return f"uses nigh.{lacking[0]}, which the module does not have" if lacking else None


def main():
    found = [block for page in shown.pages() for block in shown.blocks(page) if block.language in LANGUAGES]
    wrong = []
    with installed.Installed(sys.argv[1], *sys.argv[2:3]) as place, tempfile.TemporaryDirectory() as folder:
        here = place.folder("code")
        (pathlib.Path(folder) / "empty").touch()
        for block in found:
            problem = complaint(place, here, block)
            if problem:
                wrong.append(f"{block.page}:{block.line}: this {block.language} {problem}")
    texts = "".join(block.text for block in found)
    wrong += [f"no page has code with: {words}" for words in [*NOT_CODE, *(frame[0] for frame in FRAMES)] if words not in texts]
    print("\n".join(wrong))
    print(f"{len(found)} blocks of code, {len(wrong)} complaints")
    return 1 if wrong or len(found) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
