#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMP programs with the shim in them, and a coordinator that grants what a script says; then with
nighd: shim_test.py SCRIPTED_SHIM SHIM NIGHD FOLDER_OF_PROGRAMS [unittest arguments]. What was not
built is skipped."""
import concurrent.futures
import os
import platform
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SCRIPTED, SHIM, NIGHD, PROGRAMS = map(os.path.abspath, sys.argv[1:5])
CPUS = sorted(os.sched_getaffinity(0))
ALL = ",".join(map(str, CPUS))
A, B = (str(CPUS[0]), str(CPUS[-1]))
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}
# Sizes and places change all the time, one cpu and none at all among them.
SCRIPT = f"{A},{B};{A};-;{B},{A};{B}" if A != B else f"{A};-;{A};{A}"


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{name} was not built")
    return path


def run(name, *words, leases=None, shim=SCRIPTED, **environment):
    """Its output, and what is on standard error; it ends well."""
    variables = dict(QUIET, **environment)
    if shim:
        variables["LD_PRELOAD"] = shim
    if leases is not None:
        variables["NIGH_TEST_LEASES"] = leases
    done = subprocess.run([program(name), *words], env=variables, capture_output=True, text=True,
                          timeout=100, check=False)
    assert done.returncode == 0, f"{name} {words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


class SameOutput(unittest.TestCase):
    """With leases of all kinds, without a coordinator, and without the shim."""

    def check(self, name, *words, **environment):
        plain = run(name, *words, shim=None, **environment)
        self.assertTrue(plain[0])
        for leases in (None, SCRIPT, A, f"{A},{B}"):
            for adjust in ("", "none", "without-clause"):
                with self.subTest(name=name, leases=leases, adjust=adjust):
                    self.assertEqual(run(name, *words, leases=leases, NIGH_ADJUST=adjust, **environment), plain)

    def test_kinds_of_regions(self):
        for name in ("kinds-gcc", "kinds-clang", "kinds-gfortran"):
            for threads in ("1", "2", "7"):
                with self.subTest(name=name, threads=threads):
                    self.check(name, OMP_NUM_THREADS=threads)

    def test_schedules(self):
        for name in ("kinds-gcc", "kinds-clang"):
            for schedule in ("static,2", "dynamic", "guided"):
                self.check(name, OMP_SCHEDULE=schedule)

    def test_threads_that_begin_regions_at_once(self):
        for name in ("threads-gcc", "threads-clang"):
            self.check(name, OMP_NUM_THREADS="3")

    def test_leagues(self):
        """A worker that leads a team of a league is in no region: it keeps neither the last one's team nor its cpus."""
        for threads in ("1", "2"):  # of each team
            self.check("leagues-clang", OMP_TEAMS_THREAD_LIMIT=threads, KMP_TEAMS_THREAD_LIMIT="8")

    def test_fork(self):
        for name in ("forks-gcc", "forks-clang"):
            self.check(name, "before")
            self.check(name, "after", "1")
        self.check("forks-clang", "after")


def teams(output):
    return [line for line in output.splitlines() if line[0].isdigit()]


@unittest.skipIf(len(CPUS) < 2, "needs two cpus")
class Teams(unittest.TestCase):
    """How many threads regions have, and where these may run."""

    def each(self):
        for name in ("teams-gcc", "teams-clang"):
            with self.subTest(name=name):
                yield name

    def test_follow_the_leases(self):
        for name in self.each():
            out, _ = run(name, "6", leases=SCRIPT, OMP_NUM_THREADS="2", NIGH_ADJUST="without-clause")
            self.assertEqual(teams(out), [f"2: {A} {B}", f"1: {A}", f"2: {ALL} {ALL}", f"2: {B} {A}",
                                          f"1: {B}", f"2: {A} {B}"])

    def test_keep_their_size_on_the_granted_cpus(self):
        for name in self.each():
            out, _ = run(name, "6", leases=SCRIPT, OMP_NUM_THREADS="2")
            self.assertEqual(teams(out), [f"2: {A} {B}", f"2: {A} {A}", f"2: {ALL} {ALL}", f"2: {B} {A}",
                                          f"2: {B} {B}", f"2: {A} {B}"])
            out, _ = run(name, "1", leases=f"{A},{B}", OMP_NUM_THREADS="3")
            self.assertEqual(teams(out), [f"3: {A},{B} {A},{B} {A},{B}"])

    def test_that_are_not_to_be_bound_have_their_size_and_all_cpus(self):
        for name in self.each():
            out, _ = run(name, "4", leases=f"{A},{B};~{A},{B};~{A};{B},{A}", OMP_NUM_THREADS="2")
            self.assertEqual(teams(out), [f"2: {A} {B}", f"2: {ALL} {ALL}", f"2: {ALL} {ALL}", f"2: {B} {A}"])

    def test_are_never_larger_than_the_program_wants(self):
        for name in self.each():
            out, _ = run(name, "2", leases=f"{A},{B}", OMP_NUM_THREADS="1")
            self.assertEqual(teams(out), [f"1: {ALL}"] * 2)
            out, _ = run(name, "1", leases=f"{A},{B}", OMP_NUM_THREADS="8", OMP_THREAD_LIMIT="1")
            self.assertEqual([line.split(":")[0] for line in teams(out)], ["1"])

    def test_clauses_are_kept_on_the_granted_cpus(self):
        for name in self.each():
            self.assertEqual(teams(run(name, "2", "2", leases=f"{B};{A},{B}")[0]), [f"2: {B} {B}", f"2: {A} {B}"])
            self.assertEqual(teams(run(name, "1", "3", leases=f"{A},{B}")[0]), [f"3: {A},{B} {A},{B} {A},{B}"])

    def test_clauses_are_ceilings_when_asked(self):
        for name in self.each():
            out, _ = run(name, "1", "2", leases=B, NIGH_ADJUST="all")
            self.assertEqual(teams(out), [f"1: {B}"])
            if name == "teams-clang":  # libgomp's dyn-var looks at the load of the machine, too
                out, _ = run(name, "1", "2", leases=B, OMP_DYNAMIC="true")
                self.assertEqual(teams(out), [f"1: {B}"])

    def test_regions_with_a_condition_follow_the_leases_when_it_is_true(self):
        name = "conditions-clang"
        self.assertEqual(run(name, shim=None, OMP_NUM_THREADS="2")[0], "2 1 1 2\n")
        out, err = run(name, leases=f"{A};{A},{B}", OMP_NUM_THREADS="2", NIGH_VERBOSE="1", NIGH_ADJUST="without-clause")
        self.assertEqual(out, "1 1 1 2\n")
        self.assertIn(f"{name}: 2 regions, 2 on granted cpus (1 to 2 of ", err)

    def test_sizes_are_left_alone_when_asked(self):
        for name in self.each():
            out, _ = run(name, "1", leases=B, OMP_NUM_THREADS="2", NIGH_ADJUST="none")
            self.assertEqual(teams(out), [f"2: {B} {B}"])

    def test_what_a_placed_thread_starts_is_free(self):
        for name in self.each():
            out, _ = run(name, "1", leases=f"{A},{B}")
            self.assertEqual(out.splitlines()[1:], [f"processors {len(CPUS)}", f"thread {ALL}",
                                                    f"Cpus_allowed_list:\t{ranges(CPUS)}", f"child {ALL}"])

    def test_programs_that_a_placed_thread_starts_are_free(self):
        exec_functions = ("execl", "execlp", "execle", "execv", "execvp", "execve", "execvpe", "fexecve", "execveat")
        for name in ("starts-gcc", "starts-clang"):
            for how in exec_functions + ("posix_spawn", "posix_spawnp", "popen"):
                for child in ([], ["vfork"])[:2 if how in exec_functions else 1]:
                    with self.subTest(name=name, how=how, child=child):
                        out, _ = run(name, how, *child, leases=A, OMP_NUM_THREADS="2")
                        self.assertEqual(out, f"Cpus_allowed_list:\t{ranges(CPUS)}\n")

    def test_a_master_that_binds_itself_is_left_alone_until_it_is_back(self):
        for name in self.each():
            smaller = {"OMP_NUM_THREADS": "2", "NIGH_ADJUST": "without-clause"}
            away, _ = run(name, "1", "0", "away", leases=A, **smaller)
            self.assertNotIn(f"1: {A}", teams(away)[0] if A != B else "")
            # As hwloc does while it looks at a machine, and with it MPI.
            back, _ = run(name, "1", "0", "back", leases=A, **smaller)
            self.assertEqual(teams(back), [f"1: {A}"])

    def test_cpus_listed_by_the_user_are_kept(self):
        for name in self.each():
            out, err = run(name, "1", leases=A, OMP_PLACES=f"{{{B}}},{{{A}}}", OMP_PROC_BIND="close",
                           OMP_NUM_THREADS="2", NIGH_VERBOSE="1")
            self.assertEqual(teams(out), [f"2: {B} {A}"])
            self.assertIn("OMP_PLACES says where threads go; left alone\n", err)


def ranges(cpus):
    """As the kernel prints them."""
    parts, first = [], None
    for cpu in cpus:
        first = cpu if first is None else first
        if cpu + 1 not in cpus:
            parts.append(str(cpu) if cpu == first else f"{first}-{cpu}")
            first = None
    return ",".join(parts)


class Libraries(unittest.TestCase):
    def test_are_found_when_opened_later(self):
        for which in (["library-gcc.so"], ["library-clang.so"]):
            out, err = run("opens", *map(program, which), leases=A, NIGH_ADJUST="without-clause")
            self.assertEqual(out, "4950\n4950\ndone\n")
            self.assertEqual(err, "team 1\nteam 1\n")

    def test_with_runtimes_of_their_own_share_a_process(self):
        both = [program("library-gcc.so"), program("library-clang.so")]
        out, err = run("opens", *both, leases=f"{A};{A},{B}", OMP_NUM_THREADS="2")
        self.assertEqual(out, "4950\n" * 4 + "done\n")
        self.assertEqual(err.count("team "), 5)

    def test_that_are_bound_to_one_runtime_keep_it(self):
        """libomp, which has libgomp's functions, too, is opened for all before gcc's library begins its first region."""
        out, err = run("opens", "--bound", program("library-gcc.so"), program("library-clang.so"), leases=f"{A},{B}")
        self.assertEqual((out, err), ("3 of 3\n", ""))

    def test_that_need_whole_teams_have_them(self):
        """OpenBLAS waits for as many threads as omp_get_max_threads() says; its name tells."""
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("gcc", "clang"):
                library = program(f"library-{kind}.so")
                blas = shutil.copy(library, os.path.join(folder, f"libopenblas-{kind}.so"))
                for adjust in ("without-clause", "all", f"all,libopenblas-{kind}=all"):
                    _, err = run("opens", library, blas, leases=A, OMP_NUM_THREADS="3", NIGH_ADJUST=adjust)
                    self.assertEqual(err, "team 1\nteam 3\n" * 2 + "inside team 3\n")


class Telling(unittest.TestCase):
    def test_no_openmp(self):
        self.assertEqual(run("opens"), ("done\n", ""))
        self.assertEqual(run("opens", NIGH_VERBOSE="1"), ("done\n", "nigh: opens: no OpenMP found\n"))

    def test_nothing_goes_to_a_file_that_has_become_standard_error(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            for environment in ({}, {"NIGH_TASKS": "prefer"}):
                self.assertEqual(run("opens", "--over", data, program("library-gcc.so"), leases=A, NIGH_VERBOSE="1",
                                     OMP_NUM_THREADS="2", **environment), ("team 2\n", ""))
                self.assertEqual(os.path.getsize(data), 0)

    def test_pools_that_are_not_openmp(self):
        """By the names of their files; one that is linked to an OpenMP runtime has no threads of its own."""
        with tempfile.TemporaryDirectory() as folder:
            library = program("library-gcc.so")
            for name, line in (("libtbb.so.12", "nigh: opens: threads on no granted cpus: oneTBB\n"),
                               ("libblis.so.4", "")):
                pool = shutil.copy(library, os.path.join(folder, name))
                _, err = run("opens", library, pool, leases=A, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
                self.assertEqual(re.findall(".*threads on no granted.*\n", err), [line] if line else [])

    def test_no_openmp_in_a_helper(self):
        me = os.getpid()
        for named, tells in ((f"parent:{me}", True), (f"self:{me}", False), ("parent:1", False), ("x", True)):
            _, err = run("opens", NIGH_VERBOSE="1", NIGH_VERBOSE_PROGRAM=named)
            self.assertEqual(err, "nigh: opens: no OpenMP found\n" if tells else "", named)
        _, err = run("threads-gcc", leases=A, NIGH_VERBOSE="1", NIGH_VERBOSE_PROGRAM="self:1")
        self.assertIn("610 regions", err)

    def test_regions(self):
        _, err = run("threads-gcc", leases=A, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        self.assertEqual(err, f"nigh: threads-gcc: 610 regions, 610 on granted cpus (1 to 1 of {len(CPUS)})\n")

    def test_one_region_and_none(self):
        for name in ("regions-gcc", "regions-clang"):
            self.assertEqual(run(name, "0", leases=A, NIGH_VERBOSE="1")[1], f"nigh: {name}: no parallel regions of more than one thread\n")
        _, err = run("threads-gcc", leases=A, NIGH_VERBOSE="1", OMP_NUM_THREADS="1")  # it has regions, of one thread
        self.assertEqual(err, "nigh: threads-gcc: no parallel regions of more than one thread\n")
        _, err = run("teams-gcc", "1", leases=A, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        self.assertIn(": 1 region, 1 on granted cpus ", err)

    def test_a_runtime_that_is_linked_statically(self):
        out, err = run("static-gcc", "1", leases=A, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        self.assertEqual(teams(out), [f"2: {ALL} {ALL}"])
        self.assertIn("static-gcc: its OpenMP runtime is linked statically: regions cannot be seen\n", err)
        _, err = run("stripped-gcc", "1", leases=A, NIGH_VERBOSE="1")
        self.assertIn("stripped-gcc: no OpenMP found (without symbols: a static runtime would not be seen)\n", err)

    def test_programs_with_a_tool_are_left_alone(self):
        for name in ("tool-gcc", "tool-clang"):
            with self.subTest(name=name):
                settings = {"leases": A, "NIGH_VERBOSE": "1", "OMP_NUM_THREADS": "2"}
                out, err = run(name, **settings)
                self.assertEqual(out, "2\n")
                self.assertIn(f"nigh: {name}: it has an OMPT tool; left alone\n", err)
                self.assertNotIn("left alone", run(name, OMP_TOOL="disabled", **settings)[1])
        for name in ("teams-gcc", "teams-clang"):  # libomp has a function of the tool's name itself
            self.assertNotIn("left alone", run(name, "1", leases=A, NIGH_VERBOSE="1")[1])
            self.assertIn(": OMP_TOOL_LIBRARIES names a tool; left alone\n",
                          run(name, "1", leases=A, NIGH_VERBOSE="1", OMP_TOOL_LIBRARIES="/nonexistent/tool.so")[1])

    def test_a_binding_that_is_none(self):
        out, err = run("teams-gcc", "1", leases=A, NIGH_VERBOSE="1", OMP_PLACES="cores", OMP_PROC_BIND="false")
        self.assertNotIn("left alone", err)
        self.assertIn(": 1 region, 1 on granted cpus ", err)


class Shim(unittest.TestCase):
    """The file that is installed."""

    @unittest.skipIf(shutil.which("readelf") is None, "needs readelf")
    def test_brings_only_the_c_library(self):
        table = subprocess.run(["readelf", "-d", SHIM], capture_output=True, text=True, check=True).stdout
        needed = [line.split("[")[1].rstrip("]") for line in table.splitlines() if "NEEDED" in line]
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, r"^(libc|libm|libpthread|libdl|ld-linux.*)\.so")

    @unittest.skipIf(shutil.which("readelf") is None, "needs readelf")
    @unittest.skipIf(platform.machine() not in ("x86_64", "aarch64") or platform.libc_ver()[0] != "glibc",
                     "old versions are asked for on x86-64 and AArch64, of glibc")
    def test_runs_with_old_c_libraries(self):
        """glibc 2.28: of Debian 10, RHEL 8 and manylinux_2_28. A loader that misses a version ends the program."""
        for library in (SHIM, os.path.join(os.path.dirname(SHIM), "nigh-places.so")):
            with self.subTest(library=library):
                if not os.path.exists(library):
                    self.skipTest(f"{library} was not built")
                table = subprocess.run(["readelf", "-V", library], capture_output=True, text=True, check=True).stdout
                versions = re.findall(r"Name: GLIBC_([0-9.]+)", table)
                self.assertTrue(versions)
                self.assertLessEqual(max(tuple(map(int, v.split("."))) for v in versions), (2, 28))

    @unittest.skipIf(shutil.which("nm") is None, "needs nm")
    def test_shows_nothing_of_the_cpp_library(self):
        names = subprocess.run(["nm", "-D", "--defined-only", SHIM], capture_output=True, text=True, check=True).stdout
        self.assertIn(" GOMP_parallel\n", names)
        self.assertNotIn(" _Z", names)


class WithNighd(unittest.TestCase):
    """The shim that is installed, and the daemon."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.socket = os.path.join(self.folder.name, "nighd.sock")
        self.daemon = None
        self.addCleanup(lambda: self.stop(signal.SIGTERM))

    def start(self):
        # Not a pipe: nobody reads it before the end.
        with open(os.path.join(self.folder.name, "log"), "ab") as log:
            self.daemon = subprocess.Popen([NIGHD, "--foreground", "--socket", self.socket, "--slice", "1",
                                            "--profiles", os.path.join(self.folder.name, "profiles")],
                                           env=QUIET, stdout=log, stderr=log)
        for _ in range(1000):
            if os.path.exists(self.socket):
                return
            time.sleep(0.01)
        self.fail("nighd does not come")

    def stop(self, how):
        if self.daemon:
            self.daemon.send_signal(how)
            self.daemon.wait(timeout=100)
            self.daemon = None

    def run_here(self, name, *words, **environment):
        return run(name, *words, shim=SHIM, NIGH_SOCKET=self.socket, **environment)


class Nighd(WithNighd):
    def together(self, jobs):
        """(name, words, environment) each, at the same time and again and again."""
        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
            def often(job):
                name, words, environment = job
                return {self.run_here(name, *words, **environment)[0] for _ in range(5)}
            return list(pool.map(often, jobs))

    JOBS = [("kinds-gcc", [], {}), ("kinds-clang", [], {}), ("kinds-gfortran", [], {}),
            ("threads-gcc", [], {}), ("threads-clang", [], {}), ("forks-gcc", ["before"], {}),
            ("forks-clang", ["after"], {})]

    def jobs(self):
        here = [job for job in self.JOBS if os.path.exists(os.path.join(PROGRAMS, job[0]))]
        return here, [{run(name, *words, shim=None, **environment)[0]} for name, words, environment in here]

    def test_grants(self):
        self.start()
        granted = 0
        while granted == 0:  # a nighd that does not get its turn for 0.1 s is one that does not answer
            _, err = self.run_here("threads-gcc", NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
            told = re.search(r": 610 regions, (\d+) on granted cpus", err)
            self.assertTrue(told, err)
            granted = int(told[1])

    def test_a_region_begun_before_follows_what_the_program_has_set_since(self):
        self.start()
        words = ("region region threads=3 region region clause=2 clause=2 clause=5 clause=2 clause=1 clause=5 "
                 "threads=2 region within=3 region other=3 region many threads=1 region threads=4 region region")
        for name in ("dynamic-gcc", "dynamic-clang"):
            here = self.run_here(name, *words.split(), OMP_NUM_THREADS="4")
            self.assertEqual(here, run(name, *words.split(), shim=None, OMP_NUM_THREADS="4"))
            # Smaller where that is allowed, and only there. A region that gets no cpus keeps its size.
            sizes = set()
            for _ in range(100):
                words_of_dynamic = "region region dynamic=1 region region dynamic=0 region".split()
                told = self.run_here(name, *words_of_dynamic, OMP_NUM_THREADS="8")[0].splitlines()
                self.assertEqual(told[:2] + told[4:], ["8 of 8"] * 3)
                sizes |= {*told[2:4]}
                if sizes != {"8 of 8"}:
                    break
            self.assertLessEqual(sizes, {"8 of 8", *(f"{n} of 8" for n in range(1, len(CPUS) + 1))})
            if len(CPUS) < 8:
                self.assertNotEqual(sizes, {"8 of 8"})

    def test_programs_together_say_the_same(self):
        jobs, alone = self.jobs()
        self.start()
        self.assertEqual(self.together(jobs), alone)

    def test_programs_go_on_when_it_is_killed_and_comes_back(self):
        jobs, alone = self.jobs()
        self.start()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            results = pool.submit(self.together, jobs)
            while not results.done():
                self.stop(signal.SIGKILL)
                self.start()
                time.sleep(0.1)
            self.assertEqual(results.result(), alone)

    def test_nobody_there(self):
        _, err = self.run_here("threads-gcc", NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        self.assertRegex(err, r": 610 regions, 0 on granted cpus; without: 610 no coordinator\n")

    def test_another_version_is_there(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(listener.close)
        listener.bind(self.socket)
        listener.listen()
        sent = []

        def refuse():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    sent.append(client.recv(4096))
                    client.send(struct.pack("<4sHHIIIB", b"nigh", 1, 132, 21, 0, 0, 0))
        refusing = threading.Thread(target=refuse)
        refusing.start()
        _, err = self.run_here("threads-gcc", NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        listener.shutdown(socket.SHUT_RDWR)
        refusing.join(timeout=100)
        self.assertEqual(sent[0][:8], struct.pack("<4sHH", b"nigh", 6, 1))
        self.assertRegex(err, r": 610 regions, 0 on granted cpus; "
                              r"without: 610 the coordinator speaks another version\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
