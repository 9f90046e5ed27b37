#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs may do, with the preloaded libraries in them: habits_test.py SCRIPTED_SHIM SHIM NIGHD
FOLDER_OF_PROGRAMS PLACES TASKS [unittest arguments]. What was not built is skipped."""
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTED, SHIM, NIGHD, PROGRAMS, PLACES, TASKS = map(os.path.abspath, sys.argv[1:7])
CPUS = sorted(os.sched_getaffinity(0))
BOTH = f"{CPUS[0]},{CPUS[-1]}"
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}

# Names that preloaded libraries take from outside, and that a program does not define: ISO C's (bcmp is how clang
# calls memcmp), and beginnings that POSIX, the C library and the compiler keep for themselves.
ISO_C = set("""abort aligned_alloc bcmp calloc ceil clearerr fclose fegetround ferror fesetround fflush fgets
    fopen fprintf fputc fputs fread free fwrite getenv lround malloc memchr memcmp memcpy memmove memset qsort
    realloc signal snprintf sprintf stderr strcat strchr strcmp strcpy strcspn strerror strlen strncat strncmp
    strncpy strrchr strspn strstr strtod strtol strtold strtoul vsnprintf""".split())
KEPT = re.compile(r"_|pthread_|sem_|sched_|dl(addr1?|close|open|v?sym|_iterate_phdr)$|str(dup|casecmp)$|(log|lround|pow)f64$")
# The rest: `syscall` makes all other calls; some are the C++ runtime's, for its messages; others have structures
# of the C library.
LEFT = set("""clock_gettime freelocale gettext newlocale nl_langinfo program_invocation_short_name sigaction sigemptyset
    sigfillset sigprocmask syscall uselocale""".split())


def programs_named(names):
    found = [name for name in names if os.path.exists(os.path.join(PROGRAMS, name))]
    if not found:
        raise unittest.SkipTest("no program was built")
    return found


def programs(runtimes):
    return programs_named([f"habits-{r}" for r in runtimes])


def run(name, *words, preload="", **environment):
    """Its status and output: 'stands still' after a while."""
    variables = dict(QUIET, LD_PRELOAD=preload, **environment)
    try:
        done = subprocess.run([os.path.join(PROGRAMS, name), *words], env=variables, capture_output=True, text=True,
                              timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "stands still"
    return done.returncode, done.stdout, done.stderr


class Names(unittest.TestCase):
    def test_nothing_is_taken_that_a_program_may_define(self):
        if shutil.which("nm") is None:
            self.skipTest("no nm")
        for library in (SHIM, PLACES, TASKS):
            with self.subTest(library=os.path.basename(library)):
                listed = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True,
                                        check=True).stdout
                names = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
                self.assertIn("dlsym", names)
                self.assertEqual(sorted(n for n in names - ISO_C - LEFT if not KEPT.match(n)), [])


def runtime_of(library):
    """The OpenMP runtime that it is linked to; None: to none."""
    needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    return next((line.split()[2] for line in needed.splitlines() if "omp" in line.split()[0]), None)


def without_libomps_own(name, result):
    """libomp changes errno as it begins, which nigh may have made it do before."""
    if not name.endswith("-clang"):
        return result
    return result[0], re.sub(r"errno changed [01] times", "errno changed once at most", result[1]), result[2]


class Habits(unittest.TestCase):
    """As without the libraries, with a coordinator that is there, and with one that follows a script."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.socket = os.path.join(self.folder.name, "socket")
        daemon = subprocess.Popen([NIGHD, "--foreground", "--socket", self.socket, "--profiles",
                                   os.path.join(self.folder.name, "profiles")], env=QUIET,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait, timeout=100)
        self.addCleanup(daemon.terminate)
        for _ in range(1000):
            if os.path.exists(self.socket):
                return
            time.sleep(0.01)
        self.fail("nighd does not come")

    def check(self, *words, leases=(BOTH, str(CPUS[0])), others=True, runtimes=("gcc", "clang")):
        for name in programs(runtimes):
            plain = run(name, *words)
            self.assertEqual(plain[0], 0, plain)
            ways = [(SHIM, {"NIGH_SOCKET": self.socket}), *((SCRIPTED, {"NIGH_TEST_LEASES": text}) for text in leases)]
            if others:
                ways += [(f"{TASKS}:{SHIM}", {"NIGH_SOCKET": self.socket, "NIGH_TASKS": "prefer"}),
                         (PLACES, {"NIGH_PLACES": ",".join(f"{{{c}}}" for c in CPUS)})]
            for preload, environment in ways:
                with self.subTest(name=name, preload=os.path.basename(preload), **environment):
                    self.assertEqual(without_libomps_own(name, run(name, *words, preload=preload, **environment)),
                                     without_libomps_own(name, plain))

    def test_own_functions_by_names_of_libc_and_errno(self):
        self.check("regions")

    def test_threads_of_c11_and_cpus_of_another_thread(self):
        self.check("threads", leases=[BOTH], others=False)  # places binds threads as a user would

    def test_pthread_exit_in_main(self):
        with open(os.path.join(PROGRAMS, *programs(["gcc"])), "rb") as program:
            if b"libomp.so" in program.read():  # of clang's preset
                self.skipTest("libomp's threads never end")
        self.check("exits", runtimes=["gcc"])
        self.check("nested", runtimes=["gcc"])

    def test_a_library_keeps_its_runtime(self):
        """Of a program without one, when another is opened for all; and its last calls are jumps."""
        part = os.path.join(PROGRAMS, *programs_named(["parts-gcc.so"]))
        runtime = runtime_of(part)
        if runtime is None:
            self.skipTest("the library was built without OpenMP")
        other = os.path.join(self.folder.name, "other.so")
        shutil.copy(runtime, other)
        plain = run("parts", part, other)
        self.assertEqual(plain, (0, "2 2\n2 2\n2 2 2\n", ""))
        for preload, environment in ((SHIM, {}), (f"{TASKS}:{SHIM}", {"NIGH_TASKS": "prefer"})):
            with self.subTest(**environment):
                self.assertEqual(run("parts", part, other, preload=preload, NIGH_SOCKET=self.socket, **environment), plain)

    def test_constructs_bind_to_regions_of_their_own_runtime(self):
        """Within one of another runtime: libomp's in libgomp's, libgomp's in libomp's, or in another libgomp's."""
        libraries = [os.path.join(PROGRAMS, name) for name in programs_named(["orphans-gcc.so", "orphans-clang.so"])]
        pairs = list(itertools.permutations(libraries, 2))
        runtime = runtime_of(libraries[0])
        if runtime is not None and "libgomp.so.1" in runtime:
            for source, name in ((runtime, "libgomX.so.1"), (libraries[0], "other.so")):
                with open(source, "rb") as original, open(os.path.join(self.folder.name, name), "wb") as renamed:
                    renamed.write(original.read().replace(b"libgomp.so.1", b"libgomX.so.1"))
            other = os.path.join(self.folder.name, "other.so")
            pairs += [(libraries[0], other), (other, libraries[0])]
        for pair, preload in itertools.product(pairs, ("", SHIM, f"{TASKS}:{SHIM}")):
            with self.subTest(pair=pair, preload=preload):
                self.assertEqual(run("orphans", *pair, preload=preload, NIGH_TASKS="prefer", NIGH_SOCKET=self.socket,
                                     LD_LIBRARY_PATH=self.folder.name), (0, "31 of 31\n", ""))

    def test_settings_are_those_of_the_librarys_runtime(self):
        """Where the program's own runtime comes first for all."""
        library = os.path.join(PROGRAMS, *programs_named(["orphans-clang.so"]))
        programs_named(["orphans-linked"])
        for preload in ("", SHIM, f"{TASKS}:{SHIM}"):
            with self.subTest(preload=preload):
                self.assertEqual(run("orphans-linked", library, library, preload=preload, NIGH_TASKS="prefer",
                                     NIGH_SOCKET=self.socket), run("orphans-linked", library, library))

    def test_regions_begin_on_small_stacks(self):
        for size in ("20480", "65536"):
            self.check("small", size)

    def test_a_child_after_vfork_chooses_its_cpus(self):
        self.check("vfork")

    def test_regions_begin_on_small_stacks_of_coroutines(self):
        for words in (("10240",), ("20480",), ("10240", "later"), ("131072", "later")):
            self.check("coroutine", *words)

    def test_nothing_is_freed_before_main(self):
        programs_named(["early"])
        for preload in ("", SHIM, f"{TASKS}:{SHIM}", PLACES):
            with self.subTest(preload=preload):
                self.assertEqual(run("early", preload=preload, NIGH_TASKS="prefer", NIGH_SOCKET=self.socket),
                                 (0, "ready\n", ""))

    def test_a_constructor_waits_for_threads(self):
        library = os.path.join(PROGRAMS, "waits_when_loaded.so")
        if os.path.exists(library):
            self.check("opens", library)

    def test_a_constructor_begins_a_region(self):
        """While the thread that began it is in dlopen(), the others can ask the loader nothing."""
        libraries = [os.path.join(PROGRAMS, name) for name in programs_named(["opening-gcc.so", "opening-clang.so"])]
        for which in (libraries, libraries[:1], libraries[-1:]):
            plain = run("opening", *which)
            self.assertEqual(plain, (0, "5247\n" * len(which), ""))
            for preload, environment in ((SHIM, {}), (f"{TASKS}:{SHIM}", {"NIGH_TASKS": "prefer"})):
                with self.subTest(libraries=which, **environment):
                    self.assertEqual(run("opening", *which, preload=preload, NIGH_SOCKET=self.socket, **environment), plain)

    def test_calls_of_a_program_that_exports_nothing_are_seen(self):
        programs_named(["fixed-gcc"])
        status, out, err = run("fixed-gcc", preload=f"{TASKS}:{SHIM}", NIGH_TASKS="prefer", NIGH_VERBOSE="1",
                               NIGH_SOCKET=self.socket)
        self.assertEqual((status, out), (0, "5247\n"))
        self.assertRegex(err, "nigh: fixed-gcc: [0-9]+ tasks, ")


class Depths(unittest.TestCase):
    """A recursion that needs almost all of the stack without nigh needs no more with it."""

    def setUp(self):
        if "SANITIZED" in os.environ:
            self.skipTest("sanitizers make the frames of nigh's functions larger")

    def bytes_each(self, name, form, where, preload=""):
        tasks = "prefer" if TASKS in preload else "off"
        done = run(name, form, *where, preload=preload, OMP_NUM_THREADS="2", NIGH_TASKS=tasks, NIGH_SOCKET="/none")
        self.assertEqual(done[0], 0, done)
        return int(done[1])

    def check(self, forms, preload, where, more=0, programs=("depths-gcc", "depths-clang")):
        for name in programs_named(programs):
            for form in forms:
                with self.subTest(name=name, form=form, where=where):
                    plain = self.bytes_each(name, form, where)
                    # The compiler of nigh, which names some of them gcc's, may be clang.
                    with open(os.path.join(PROGRAMS, name), "rb") as file:
                        is_on_libomp = b"libomp.so" in file.read()
                    self.assertLessEqual(self.bytes_each(name, form, where, preload),
                                         plain + (more if is_on_libomp else 0))

    def test_of_tasks_outside_of_regions(self):
        for preload in (SHIM, f"{TASKS}:{SHIM}"):
            self.check(["task", "undeferred", "depend", "group", "loop"], preload, [])

    def test_of_undeferred_tasks_inside_of_a_region(self):
        self.check(["undeferred", "undeferred-depend", "undeferred-loop"], f"{TASKS}:{SHIM}", ["inside"],
                   programs=["depths-gcc"])

    def test_of_regions_of_one_thread(self):
        # Arguments of libomp's are on the stack once more: it needs 1,000 bytes and more itself.
        for where in ([], ["inside"]):
            self.check(["region", "one", "false"], SHIM, where, more=400)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[7:], verbosity=2)
