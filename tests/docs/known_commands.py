# SPDX-License-Identifier: Apache-2.0
"""Commands of the pages that commands_test.py does not run just as they stand.

To add one, write its text (one line, without prompt and comment; lines that end in a backslash are joined by a space) into
KNOWN with what is different:

    How(run="shorter form")             what is too long, or has no end; the page's output is then compared by its headings
    How(full=True, seconds=300)         more than a second or two: only in ./test.sh --full
    How(status=1)                       the page shows a failure
    How(compare=ANY_ORDER)              lines of several processes; or IN_PART, HEADINGS, NOTHING (say why in a comment)
    How(aside="regular expression")     lines that this machine or this run may have or not
    How(elsewhere=("tests/x.py", [...]))   what needs root, hosts, systemd, packages: the test that runs it, and words that
                                        it has of the command
    How(nowhere="why")                  nothing can run it: the test prints it with this reason
Where pages have one text in several states of the machine, the key is "text => beginning of the first line of output".
A FAMILY is the same for all commands that match. Programs that pages only name (./solver) are STAND_INS. In `run`, {prefix},
{build} and {root} are the folders of the installed nigh, of the build and of the repository."""
import dataclasses
import re
import shlex
import typing

import shown

SAME = shown.difference
ANY_ORDER = shown.missing
HEADINGS = shown.missing_headings
NOTHING = None


def on_any_load(wanted, made, aside=None):
    """As SAME; a loop whose times others disturb may not have chosen yet."""
    return SAME(wanted, [re.sub(r"^tries:", "holds:", line) for line in made], aside)


@dataclasses.dataclass
class How:
    run: typing.Optional[str] = None
    status: int = 0
    compare: typing.Any = SAME
    aside: typing.Optional[str] = None
    full: bool = False
    seconds: int = 60  # on a busy machine
    may_skip: bool = False
    elsewhere: typing.Optional[tuple] = None
    nowhere: typing.Optional[str] = None
    needs: typing.Optional[str] = None  # a file, from the repository's root or as in `run`; without it: skipped, or a failure in test.sh --full


def also(how, **more):
    return dataclasses.replace(how, **more)


# Name -> file of the repository, `prefix/...` or `build/...`; with options, a source to compile with them; or a function
# that returns the text of a script.
PROGRAMS = "build/tests/openmp/programs"
OPENMP = "docs/examples/first_touch.c -fopenmp"
BLAS = """import sys, time, zlib, numpy
a = numpy.random.default_rng(1).random((300, 300))
began = time.time()
for _ in range(int(sys.argv[1])):
    b = a @ a
print(f"{time.time() - began:.1f} s, sum {b.sum():.6f}, bits {zlib.crc32(b.tobytes()):08x}")
"""
STAND_INS = {
    "solver": OPENMP,
    "app": OPENMP,
    "nested_regions": "docs/examples/nested_regions.cpp -fopenmp -O3",
    "near_data": "docs/examples/near_data.cpp -std=c++20",
    "program.cpp": "docs/examples/first_loop.cpp",
    "fib-gcc": "docs/examples/fib_tasks.c -fopenmp",
    "fib": "docs/examples/fib.c -std=c99",
    "scan": "docs/examples/scan.cpp -fopenmp -O2 -g",
    "cluster_fib": "build/tests/cluster/cluster_fib_openmpi",
    "model.sh": lambda: '#!/bin/sh\necho "time $((1000 / ($1 * $2)))"\n',
    **{name: f"prefix/libexec/nigh/{name}" for name in ("npb-cg", "gauss", "mmul", "adi")},
    **{name: f"{PROGRAMS}/{name}" for name in ("opens", "static-gcc", "stripped-gcc", "dynamic-gcc")},
    "threads": f"{PROGRAMS}/threads-gcc",
    "blas.py": lambda: BLAS,
}

WHEEL, DEBIAN = "tests/packages/wheel_test.sh", "tests/packages/debian_test.sh"
TARBALL, TEST = "tests/packages/tarball_test.sh", "test.sh"
BENCH = "build/release/bin/nigh bench"


def quick(text):
    """Benchmarks have --quick, which takes small sizes and few samples."""
    run = re.sub(r"((?:^|[ (])(?:build/release/bin/)?nigh bench [a-z][\w-]*)", r"\1 --quick", text)
    for pattern, by in ((r"--classes \S+", "--classes S"), (r"--(reps|repetitions) \d+", r"--\1 1"), (r"(uts(?:-parts)?:T\d)L", r"\1"), (r"jacobi:1000x50", "jacobi:200x20"),
                        (r"--large\b", ""), (r"--set (?:13|large)\b", "--set 13 --programs 3"), (r"uts:T1,uts:T3,", "uts:T1,"), (r"--block \d\S+", "--block 60x10x20"), (r"--threads \d+", "--threads 1")):
        run = re.sub(pattern, by, run)
    needs = "build/foreign/bin/python" if "python tests/foreign" in text else None
    return How(run=f"(PATH={{root}}/build/foreign/bin:$PATH; {run})" if needs else run, compare=HEADINGS, full=True, seconds=600,
               needs=needs)


def with_openmpi5(text):
    """By the nigh of the build, where CMake has found that MPI: its programs are not installed."""
    how = quick(re.sub(r"--ranks \d+", "--ranks 8", text))
    return also(how, run=how.run.replace("build/release/bin/", "{build}/bin/"), may_skip=True,
                needs="{build}/libexec/nigh/cluster-losses-openmpi5")


def small(text):
    """Simulations of minutes, with one seed, or one problem."""
    for pattern, by in SMALLER:
        text = re.sub(pattern, by, text)
    # Published times are of other problems than the smallest.
    aside = "^beside what is published" if "hotslaw" in text else r"^published\s+simulated" if "sim mg" in text else None
    return How(run=text, compare=HEADINGS, full=True, seconds=900, aside=aside)


SMALLER = [
    (r"sim table1 --leave-one-out", "sim table1 --seeds 1"),
    (r"(sim hotslaw.*?) --only \S+", r"\1"),
    (r" --seeds 1\b(?=.*hotslaw)|(?<=hotslaw)(?=.*) --seeds 1\b", ""),
    (r"sim hotslaw", "sim hotslaw --only T1-tiny,T3-tiny"),
    (r"sim allocation", "sim allocation --seeds 1"),
    (r"(sim temporal) --side 600 96", r"\1 --side 48 --planes 384"),
    (r"--cores (?:\d+,?)+", "--cores 1000"),
    (r"sim calibrate", "sim calibrate --quick"),
    (r"sim run", "sim run --seeds 1"),
    (r"sim mg(?= --machine)", "sim mg --threads 1 8"),
    (r"sim mg", "sim mg --class W"),
    (r"--large \d+", "--large 4 --programs 2"),
]
def region(how_many):
    """Of npb-cg, whose lines change with its source: a place of one region (==), or of several (>)."""
    return ("$(nigh profile show npb-cg | awk '/^[a-z]+[.]cpp/ { n[$1]++ } END "
            "{ for (r in n) if (n[r] " + how_many + " 1) { print r; exit } }')")


POOLS = ("./python3 load={build}/tests/openmp/programs/libscipy_openblas64_-test.so,scipy_openblas_set_num_threads64_,"
         "scipy_openblas_get_num_threads64_")


def with_numpy(text):
    """Of PyPI, with its OpenBLAS."""
    return How(run=f"PATH={{root}}/build/foreign/bin:$PATH; {text}", full=True, seconds=120, compare=ANY_ORDER,
               needs="build/foreign/bin/python")


KNOWN = {
    # Made, installed and used in a clean place by the tests of packages.
    "packaging/wheel/build.sh build/wheel && python3 -m venv ~/nigh-venv && "
    "~/nigh-venv/bin/pip install build/wheel/wheels/*.whl":
        How(elsewhere=(WHEEL, ["packaging/wheel/build.sh", "-m venv", "bin/pip\" install", "$wheel"])),
    "packaging/wheel/build.sh build/wheel": How(elsewhere=(WHEEL, ["packaging/wheel/build.sh"])),
    "python3 -m venv venv && venv/bin/pip install build/wheel/wheels/nigh_runtime-*.whl":
        How(elsewhere=(WHEEL, ["-m venv", "pip", "install"])),
    "venv/bin/nigh --version": How(elsewhere=(WHEEL, ['/nigh" --version'])),
    "venv/bin/nigh run --threads 1 -- ./solver": How(elsewhere=(WHEEL, ['/nigh" run --threads 1 --'])),
    "apt-get install --no-install-recommends debhelper dh-python dpkg-dev $(. scripts/setup.sh; echo ${building[@]}) "
    "libopenmpi-dev libmpich-dev": How(elsewhere=(TEST, ['need_packages "${building[@]}"', '"${testing[@]}"', '"${packaging[@]}"'])),
    "packaging/debian/build.sh build/debian": How(elsewhere=(DEBIAN, ["packaging/debian/build.sh"])),
    "apt-get install ./build/debian/*.deb": How(elsewhere=(DEBIAN, ["apt-get install", ".deb"])),
    "cmake --preset release && cmake --build --preset release --target package":
        How(elsewhere=(TARBALL, ["CPackConfig.cmake", "nigh-*.tar.gz"])),
    'mkdir "$HOME/my programs" && tar -C "$HOME/my programs" -xzf build/release/nigh-0.2.0-linux-x86_64.tar.gz':
        How(elsewhere=(TARBALL, ["-xzf"])),
    '"$HOME/my programs/nigh-0.2.0-linux-x86_64/bin/nigh" bench': How(elsewhere=(TARBALL, ['/bin/nigh" bench'])),
    "cmake --preset release && cmake --build --preset release && cmake --install build/release --prefix ~/nigh":
        How(elsewhere=("tests/docs/installed.py", ["--install", "--prefix"])),  # of another preset
    "cmake --preset release && ninja -C build/release": How(elsewhere=(TEST, ["build release"])),
    "cmake --preset fuzz && cmake --build --preset fuzz": How(elsewhere=(TEST, ["build fuzz"])),
    # Other tests are these very commands.
    "./test.sh --fast": How(elsewhere=(".ci/run", ["./test.sh"])),
    "./test.sh": How(elsewhere=(".ci/run", ["./test.sh"])),
    "./test.sh --full": How(elsewhere=(TEST, ["--full"])),
    "scripts/site": How(elsewhere=("tests/docs/site_test.py", ["scripts/site"])),
    "python3 -m http.server -d build/site": How(elsewhere=("tests/docs/site_test.py", ["http.server"])),
    "kills_stress --scale 40 --seed 1": How(elsewhere=("tests/stress/CMakeLists.txt", ["kills_stress --scale 40"])),
    "coordinator_fuzz --scale 110 --seed 1": How(elsewhere=("tests/fuzz/CMakeLists.txt", ["coordinator DRIVER", "LONG_SCALE 110"])),
    "codec_fuzz --scale 100 --seed 1": How(elsewhere=("tests/fuzz/CMakeLists.txt", ["codec DRIVER", "LONG_SCALE 100"])),
    "tests/fuzz/run.py --seconds 10 --jobs 4 region_profile machine recorded_trace elf rank_traces tuned_profile topology_xml "
    "learnt_spreads": How(elsewhere=(TEST, ["tests/fuzz/run.py --seconds"])),
    "tests/cli/mutants_test.py build/dev/bin/nigh tests/fuzz/corpus --mutants 2000 --seed 1":
        How(run="python3 tests/cli/mutants_test.py build/dev/bin/nigh tests/fuzz/corpus --mutants 40 --seed 1", full=True,
            seconds=120),
    "tests/cli/hostile_files_test.py build/dev/bin/nigh":
        How(run="python3 tests/cli/hostile_files_test.py build/dev/bin/nigh -v", full=True, seconds=300, compare=ANY_ORDER),
    "ctest --test-dir build/dev -R runtime_scope_test --output-on-failure":
        How(elsewhere=("tests/unit/CMakeLists.txt", ["gtest"])),  # the unit tests, which are not built for this test
    "build/dev/tests/unit/runtime_test --gtest_filter='TaskScope.*'": How(elsewhere=("tests/unit/CMakeLists.txt", ["gtest"])),
    "tests/numa_vm/tiles_locality_test.py build/dev/libexec/nigh/nigh-bench-temporal":
        How(elsewhere=("tests/numa_vm/scenarios.cmake", ["tiles_locality_test.py"])),

    "nigh bench compile --compilers g++ --repetitions 5 --include FORK_UNION/include":
        How(run="nigh bench compile --compilers g++ --quick", full=True, seconds=400, compare=HEADINGS),
    f"{BENCH} compile --include FORK_UNION/include --compilers g++ --repetitions 5 --json docs/results/compile.json "
    "--plot docs/results/compile.svg | tee docs/results/compile.txt":
        How(run="nigh bench compile --compilers g++ --quick --programs for", full=True, seconds=400, compare=HEADINGS),
    "g++ -std=c++20 -O2 -include nigh/pstl.hpp -isystem STDEXEC/include parallel_scheduler.cpp $(pkg-config --cflags --libs nigh) "
    "-o parallel_scheduler": How(elsewhere=("tests/docs/examples_test.py", ["parallel_scheduler.cpp", "stdexec/execution.hpp"])),
    "./parallel_scheduler": How(elsewhere=("tests/docs/examples_test.py", ["./parallel_scheduler"])),

    # systemd as the first process is on no machine of the tests; the units are verified.
    "systemd-run --user --unit=nighd nighd --foreground --idle-exit 0": How(nowhere="needs systemd as the first process"),
    "systemctl enable --now nighd.socket": How(nowhere="needs systemd as the first process"),
    "runuser -u eve -- nigh status": How(nowhere="needs systemd as the first process"),
    'grep -E "^(Uid|CapBnd|NoNewPrivs|Seccomp):" /proc/$(systemctl show nighd -p MainPID --value)/status':
        How(nowhere="needs systemd as the first process"),
    "systemd-analyze security nighd.service | tail -1": How(nowhere="needs systemd as the first process"),
    "systemd-analyze security --offline=true nighd.service | tail -1 => → Overall exposure level for nighd.service: 7":
        How(nowhere="of a unit that is no more: `before`"),
    "systemd-analyze security --offline=true nighd.service | tail -1 => → Overall exposure level for nighd.service: 0":
        How(run="sed 's,{prefix}/bin/nighd,/bin/true,' {prefix}/lib/systemd/system/nighd.service >nighd.service; "
            "systemd-analyze security --offline=true $PWD/nighd.service | tail -1 | "
            "sed 's/:-}/\U0001F600/'"),
    "systemd-analyze verify --man=no nighd.service nighd.socket; echo $?":
        How(elsewhere=("tests/install/install_test.sh", ["systemd-analyze verify --man=no"])),

    'for file in libnigh0_*.deb libnigh-dev_*.deb; do dpkg -x "$file" ~/nigh; done':
        How(elsewhere=(DEBIAN, ['for file in libnigh0_*.deb libnigh-dev_*.deb; do dpkg -x "$file" ~/nigh; done'])),
    # Findings are those of the machine; tests/cli/readme_test.py compares their words with the sources.
    "nigh doctor": How(compare=NOTHING),
    # The machine is busy or not, and the program prints no times.
    "nigh tune --threads 1 --schedule static --repetitions 2 -o busy.json -- sleep 0.6": How(compare=NOTHING),
    "nigh tune --repetitions 1 --threads 1 --schedule static --metric 'time ([0-9]+)' -- ./app": How(status=1, compare=NOTHING),
    'export PKG_CONFIG_PATH=~/nigh/usr/lib/x86_64-linux-gnu/pkgconfig': How(
        elsewhere=(DEBIAN, ["export PKG_CONFIG_PATH=~/nigh/usr/lib/x86_64-linux-gnu/pkgconfig"])),

    # Failures that the pages show.
    "NIGH_WORKERS=many ./fib 30": How(status=1),
    "mpirun.mpich -n 2 ./cluster_fib": How(status=2),
    "./program": How(run="g++ -std=c++20 program.cpp $(pkg-config --cflags --libs nigh) -o program && env -u LD_LIBRARY_PATH ./program",
                     status=127),
    "nigh sim machines ./mine.json": How(
        run="cp {root}/machines/nehalem-2x4.json mine.json; sed -i '0,/\"value\": [0-9.]*/s//\"value\": 0/' mine.json; "
            "nigh sim machines ./mine.json", status=2, compare=NOTHING),
    "nigh tune --hosts 40 -- mpirun -n {ranks} ./app": How(status=1),
    "nigh profile set npb-cg cg.cpp:136 --maximum 2": How(run=f"nigh profile set npb-cg {region('>')} --maximum 2", status=2, full=True),
    "sh -c 'ulimit -f 0; exec nighd --foreground'": How(  # one whose log is a pipe: a file could not grow
        run="NIGH_SOCKET=$PWD/q.sock timeout 3 sh -c 'ulimit -f 0; exec nighd --foreground' 2>&1 | cat & sleep 1; "
            "NIGH_SOCKET=$PWD/q.sock nigh run -- ./threads >out; wait", compare=ANY_ORDER),

    "NIGH_SOCKET=n2.sock nigh status --json": How(
        run="nighd --socket n2.sock; sleep 0.3; NIGH_SOCKET=n2.sock nigh status --json; kill $(cat n2.sock.lock)",
        aside="strangers|energy|^nighd: process"),
    "curl -s --unix-socket m2.sock http://nighd/metrics | head -3": How(
        run="nighd --socket n3.sock --metrics m2.sock; sleep 0.3; curl -s --unix-socket m2.sock http://nighd/metrics | head -3; "
            "kill $(cat n3.sock.lock)", aside="^nighd: process"),

    # One state of the coordinator after the other.
    "nigh status => /run/user": How(run="sleep 2; nigh status", aside=r"^# (gauss|mmul|npb-cg)\b|^PID"),
    "nigh status => /tmp/qm": How(elsewhere=("tests/cli/quota_test.py", ["status"])),
    "nigh status => nigh: no coordinator at /tmp/demo": How(
        run="kill -9 $(cat n.sock.lock); sleep 0.2; NIGH_SOCKET=$PWD/n.sock nigh status", status=1),
    "nighd --socket n.sock": How(run="nighd --socket n.sock; sleep 0.3; nighd --socket n.sock", status=1),  # the second one
    "nighd --socket n.sock --if-none": How(  # where a process holds the lock and does not answer
        run="(flock 9; echo $BASHPID >&9; exec sleep 8) 9>n.sock.lock & sleep 0.3; nighd --socket n.sock --if-none", status=1,
        full=True),
    "nigh status => nigh: no coordinator at /tmp/mix": How(
        elsewhere=("tests/unit/coordinator_versions_test.cpp", ["another version"])),
    "NIGH_VERBOSE=1 nigh run -- ./threads > /dev/null": How(elsewhere=("tests/openmp/shim_test.py", ["610 the coordinator speaks another"])),
    "kill $(cat n.sock.lock)": How(elsewhere=("tests/unit/coordinator_versions_test.cpp", ["another version"])),
    "grep version n.log": How(elsewhere=("tests/unit/coordinator_server_test.cpp", ["sends what is of another version"])),
    "nighd --metrics m.sock; curl -s --unix-socket m.sock http://nighd/metrics | grep -v '^#'": How(
        run="nighd --socket q.sock --metrics m.sock; sleep 0.5; curl -s --unix-socket m.sock http://nighd/metrics | "
            "grep -v '^#'; kill $(cat q.sock.lock)", compare=ANY_ORDER),
    "mpirun -n 4 --oversubscribe --bind-to none nigh run -- ./adi --size 1500 & sleep 2.5; nigh status": How(
        run="mpirun -n 4 --oversubscribe --bind-to none nigh run -- ./adi --size 1500 & sleep 2.5; nigh status; wait", full=True,
        seconds=90, aside=r"^# adi"),
    "nigh run -v -- python3 waits.py 2>&1 | grep -e regions -e ran": How(elsewhere=("tests/unit/nighd_profiles_test.cpp", ["library_profiles"])),
    "cat ~/.local/state/nigh/profiles/libraries/libwork.so-ff0c8dc9e27640eb.json":
        How(elsewhere=("tests/unit/nighd_profiles_test.cpp", ["library_profiles"])),
    "build/dev/tests/simulation/simulation --steps 1000000 --seed 2": How(compare=NOTHING, full=True, seconds=60),  # with no fault
    "build/dev/tests/simulation/simulation --steps 1000000 --seed 1": How(full=True, seconds=60),
    "time build/dev/tests/simulation/simulation --steps 100000000": How(
        run="time build/dev/tests/simulation/simulation --steps 1000000", full=True, seconds=60, compare=HEADINGS),
    # How many were stolen, and from how near, is this run's.
    "NIGH_VERBOSE=1 nigh run --tasks prefer -- ./fib-gcc 27": How(aside=r"\bstolen\b"),
    "nigh run -v --tasks prefer -- ./fib-gcc 27": How(aside=r"\bstolen\b"),
    "nigh run -v --tasks prefer -- ./fib-gcc 41 & sleep 4; nigh run -v --tasks prefer -- ./fib-gcc 40 & sleep 3; nigh status": How(
        run="nigh run -v --tasks prefer -- ./fib-gcc 39 & sleep 1; nigh run -v --tasks prefer -- ./fib-gcc 39 & sleep 1; "
            "nigh status; wait", full=True, seconds=120, compare=ANY_ORDER, aside=r"^(fib-gcc|nigh: fib-gcc|#)"),

    # Commands of one's own: here any.
    "nigh bench coordinator --commands FILE --alone": How(
        run="echo sleep 0.1 >FILE && nigh bench coordinator --commands FILE --alone --quick", full=True, seconds=60, compare=NOTHING),
    "nigh bench coordinator --commands commands.txt --alone --ignore 'Program|Started|Total CPU|: Time|seconds' --quick": How(
        run="printf '# three\\nsleep 0.1\\necho seconds 1\\necho 2\\n' >commands.txt && nigh bench coordinator --commands commands.txt "
            "--alone --ignore 'Program|Started|Total CPU|: Time|seconds' --quick", full=True, seconds=60, compare=NOTHING),

    # Threads of libraries from PyPI.
    "nigh run -v -- python3 solve.py 2>&1 | grep granted": How(  # a program called python3 with such a library
        run=f"cp {{build}}/tests/openmp/programs/pools-gcc python3; nigh run -v -- {POOLS} region region work close 2>&1 | grep granted"),
    "nigh status | tail -n 1": How(
        run=f"sleep 3 | nigh run -- {POOLS} region work line >out & sleep 1.5; nigh status | tail -n 1; wait"),
    "nigh run -v --adjust openblas -- python3 blas.py 20 2>&1 | head -n 3 & nigh run --adjust openblas -- python3 blas.py 20; wait":
        with_numpy("nigh run -v --adjust openblas -- python3 blas.py 3 2>&1 | head -n 3 & nigh run --adjust openblas -- python3 blas.py 3; wait"),
    "nigh run -- python3 blas.py 1; OPENBLAS_NUM_THREADS=1 python3 blas.py 1":
        with_numpy("nigh run -- python3 blas.py 1; OPENBLAS_NUM_THREADS=1 python3 blas.py 1"),

    "./spread_site": How(compare=on_any_load),
    # Of machines with more cpus, and shorter.
    "nigh run --threads 4 --bind scatter --mem interleave --schedule guided -- ./solver --grid 512":
        How(run="nigh run --threads 1 --bind scatter --mem interleave --schedule guided -- ./solver --grid 512"),
    "mpirun --bind-to none -n 4 nigh run --bind-ranks compact --threads 7 -- ./solver":
        How(run="mpirun --oversubscribe --bind-to none -n 1 nigh run --bind-ranks compact --threads 1 -- ./solver"),
    "nigh run --threads 8 --bind scatter --mem interleave -- libexec/nigh/npb-mg --class B":
        How(run="nigh run --threads 1 --bind scatter --mem interleave -- libexec/nigh/npb-mg --class S"),
    "nigh tune --metric 'Mop/s total *= *([0-9.]+)' --maximize -- libexec/nigh/npb-mg --class A": How(
        run="nigh tune --budget 10s --metric 'Mop/s total *= *([0-9.]+)' --maximize -- libexec/nigh/npb-mg --class S", full=True,
        seconds=90),
    "nigh tune --seed 9 --metric 'Mop/s total *= *([0-9.]+)' --maximize -- libexec/nigh/npb-mg --class A": How(
        run="nigh tune --budget 20s --seed 9 --metric 'Mop/s total *= *([0-9.]+)' --maximize -- libexec/nigh/npb-mg --class S",
        full=True, seconds=120, compare=NOTHING),  # configurations and verdict are the machine's
    "nigh report -- ./scan 20": How(seconds=90, aside="^nigh: "),
    "nigh tune --budget 10m -- ./solver --grid 512": How(run="nigh tune --budget 5s -- ./solver --grid 512", seconds=60),
    "nigh run --profile nigh-profile.json -- ./solver --grid 512": How(),
    "nigh tune --exhaustive --repetitions 9 --metric 'MLUP/s ([0-9.]+)' --maximize -- mpirun -n {ranks} libexec/nigh/jacobi2d "
    "--points 200 --iterations 30 --threads {threads} --report": How(
        run="nigh tune --exhaustive --repetitions 2 --metric 'MLUP/s ([0-9.]+)' --maximize -- mpirun -n {ranks} "
            "libexec/nigh/jacobi2d --points 60 --iterations 5 --threads {threads} --report", full=True, seconds=200, compare=NOTHING),
    "nigh tune --repetitions 2 --metric 'time ([0-9.]+)' -- mpirun.mpich -n {ranks} ./model.sh {ranks} {threads}": How(
        full=True, seconds=120, compare=NOTHING),  # as tune.md says, of an emulated machine
    "nigh profile -- ./solver": How(seconds=60),
    "nigh profile --repetitions 5 --output profile-cg.json --figure profile-cg.svg -- ./npb-cg --class A": How(
        run="nigh profile --keep --repetitions 1 --output profile-cg.json --figure profile-cg.svg -- ./npb-cg --class S", full=True,
        seconds=120, compare=NOTHING),
    "nigh profile show": How(full=True),
    "nigh profile show npb-cg": How(full=True, aside=r"^cg\.cpp"),
    "nigh profile set npb-cg cg.cpp:180 --maximum 1 --optimal 1": How(
        run=f"nigh profile set npb-cg {region('==')} --maximum 1 --optimal 1", full=True),
    "nigh profile show npb-cg | grep given": How(full=True, compare=NOTHING),
    '"$HOME/my programs/nigh-0.2.0-linux-x86_64/bin/nigh" run -v --threads 1 -- ./solver': How(
        run="mkdir 'my programs' && cp -rl {prefix} 'my programs/nigh' && 'my programs/nigh/bin/nigh' run -v --threads 1 -- ./solver",
        compare=HEADINGS),
    "nigh completion fish >~/.config/fish/completions/nigh.fish": How(
        run="mkdir -p ~/.config/fish/completions; nigh completion fish >~/.config/fish/completions/nigh.fish"),
    "NIGH_DEPTH_CUTOFF=4 nigh trace --summary-only -- ./queens 12": How(compare=ANY_ORDER),  # two lines of the page's run
    "nigh run -v --threads 2 -- ./solver": How(run="nigh run -v --threads 2 -- ./solver", aside=r"^pages|^serial|^#$|^ran|^solver"),
    "nigh run --spread 2 --spreads spreads.json -- ./nested_regions": How(full=True, seconds=120),
    "nigh run --spread auto --spreads spreads.json -- ./nested_regions": How(
        full=True, seconds=120, aside="^nigh: nested_regions: region"),  # held, or still in trial where times are noisy

    "numa-vm --nodes 4 --cores 2 --huge-pages never -- sh run.sh": How(
        run="sed -i 's,task-jacobi,libexec/nigh/task-jacobi,; s/ 160 / 32 /' run.sh; "
            "numa-vm --nodes 4 --cores 2 --huge-pages never -- sh run.sh", full=True, seconds=300, aside="^nigh: "),
    "nigh sim run --trace uts.json --check --policy near": How(
        run="nigh trace --output uts.json -- libexec/nigh/uts --tree T3; nigh sim run --seeds 1 --trace uts.json "
            "--check --policy near", compare=HEADINGS, full=True, seconds=120),

    # A terminal, and other machines.
    "nigh top": How(elsewhere=("tests/cli/top_test.py", ["top"])),
    "nigh top --once": How(compare=HEADINGS, aside=r"PID|package|energy", run="sleep 1; nigh top --once"),
    "nigh top --once --json | jq -c '.programs[] | {pid, name, holds, wanted, waited_us, code}'":
        How(compare=NOTHING),  # programs and leases of that moment
    "lstopo machine.xml && nigh topo --xml machine.xml": How(run="lstopo-no-graphics machine.xml && nigh topo --xml machine.xml"),
    "nigh topo --xml memory_only.xml": How(run="ln -s {root}/tests/data/topology/memory_only.xml .; nigh topo --xml memory_only.xml"),
    "nigh topo --xml restricted.xml": How(run="ln -s {root}/tests/data/topology/restricted.xml .; nigh topo --xml restricted.xml"),
    "nigh trace --output jacobi.json -- nigh-bench-jacobi3d --variant nigh/queues --grid 300 --sweeps 10 --order jki": How(
        run="nigh trace --output jacobi.json -- libexec/nigh/nigh-bench-jacobi3d --variant nigh/queues --grid 300 --sweeps 10 "
            "--order jki", full=True, seconds=120),
}
def if_here(program, text):
    """Skipped where there is no such program, or where the machine does not let perf count."""
    look = "perf stat true >perf.log 2>&1" if program == "perf" else f"command -v {program} >/dev/null"
    return f"{look} || exit 77; {text}"


def sanitized(text):
    """A program without its mistake prints its sum; with it, the sanitizer's own status, and a report whose frames depend on
    the thread that came first."""
    if " -o " in text:
        return How(seconds=60)
    if text.endswith("race"):  # found when a second thread comes in time
        return How(run=f"n=0; while {text}; do n=$((n + 1)); [ $n -lt 20 ] || exit 0; done; exit 66", status=66, compare=NOTHING,
                   seconds=120)
    return How(status=1, compare=NOTHING, seconds=60) if text.endswith(("overflow", "leak")) else How(seconds=60)


FAMILIES = [
    (r"^tests/docs/commands_test.py", How(elsewhere=("tests/docs/CMakeLists.txt", ["commands_test.py"]))),
    (r"from_openmp|jacobi2d --points 100", How(full=True, seconds=60)),
    # Which thread comes first, and in which frame, is this run's.
    (r"debug_me_[at]san", sanitized),
    (r"^c\+\+ .* debug_me\.cpp ", How(seconds=60)),
    (r"debug_me .*throw|^NIGH_WORKERS=1 gdb", lambda text: How(
        run=if_here("gdb", text.replace("; gdb", "; [ -e core ] || exit 77; gdb")), may_skip=True, seconds=60, compare=NOTHING)),
    (r"^valgrind ", lambda text: How(run=if_here("valgrind", text), may_skip=True, seconds=120, aside="hwloc|HWLOC")),
    (r"^perf .*debug_me", lambda text: How(run=if_here("perf", text), may_skip=True, compare=NOTHING)),
    (r"profile --no-keep --repetitions 5 .*npb-cg --class A", lambda text: How(
        run=text.replace("--repetitions 5", "--repetitions 1").replace("--class A", "--class S"), full=True, seconds=120)),
    (r"^mpirun\.mpich -n 4 nigh run --bind-ranks", lambda text: How(
        run=f"numa-vm --nodes 2 --cores 4 --threads 2 -- sh -c {shlex.quote(text)}", full=True, seconds=120)),
    # How much is stolen, and from how near, is this run's.
    (r"nigh trace (?!.*mpirun|.*nigh-bench)", How(aside=r"^steals|^within")),
    (r"nigh trace .*nigh-bench-jacobi3d", How(full=True, seconds=120)),
    (r"^(NIGH_TRACE\S* |nigh trace .*|)mpirun", How(compare=ANY_ORDER, seconds=30, aside=r"^steals|^within")),
    (r"train\.py", How(elsewhere=("tests/cli/readme_test.py", ["train.py"]))),
    (r"nigh bench cluster .*(?:--losses|--supervised)", with_openmpi5),
    (r"tests/cluster/hosts ", How(full=True, compare=ANY_ORDER, seconds=600, may_skip=True)),
    (r"tests/cluster/faults_test\.py ",
     lambda text: How(run=re.sub(r"--runs \d+", "--runs 1", text), seconds=60, may_skip=True)),
    (r"tests/cluster/(survivors|spares)_test\.py ", lambda text: How(
        run=re.sub(r"--runs \d+", "--runs 5", text), full=True, seconds=600, may_skip=True)),
    (r"^numa-vm ", How(full=True, seconds=200)),
    (r"nigh bench [a-z]", quick),
    (r"nigh sim machines$", How()),
    (r"nigh sim [a-z]", small),
]


def run_as(command, how):
    """The text to run: /usr/local is where nigh is installed."""
    return (how.run or command.text).replace("/usr/local", "{prefix}")


def how(command):
    if command.text in KNOWN:
        return KNOWN[command.text]
    for key, found in KNOWN.items():
        text, arrow, first = key.partition(" => ")
        if arrow and text == command.text and command.output and command.output[0].startswith(first):
            return found
    for pattern, found in FAMILIES:
        if re.search(pattern, command.text):
            return found(command.text) if callable(found) else found
    return How()
