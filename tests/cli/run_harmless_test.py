#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that `nigh run` has started does as it does without nigh: run_harmless_test.py NIGH REGIONS WHERE
[unittest arguments]. REGIONS is the folder of tests/openmp/programs, WHERE that of cli_where."""
import ctypes
import errno
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

NIGH = os.path.abspath(sys.argv[1])
REGIONS = [pathlib.Path(sys.argv[2]).absolute() / name for name in ("regions-gcc", "regions-clang")]
GUARDED = [pathlib.Path(sys.argv[3]).absolute() / name for name in ("where-guarded-gcc", "where-guarded-clang")]
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD", "ASAN_"))}
LONG = 60  # seconds; a test that hangs has failed
# Makes three children and waits until it has none.
WAITER = """if True:
    import os
    for i in range(3):
        if os.fork() == 0: os._exit(i)
    n = 0
    try:
        while os.wait(): n += 1
    except ChildProcessError: print("reaped", n)"""
libc = ctypes.CDLL(None)


def become_subreaper():
    libc.prctl(36, 1, 0, 0, 0)


def ignore_ends_of_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def refuse_affinity():
    """A sandbox in which sched_getaffinity() fails with EPERM, by seccomp(2)."""
    number = {"x86_64": 204, "aarch64": 123}[os.uname().machine]
    load_word, jump_if_equal, answer = 0x20, 0x15, 0x06
    allow, refuse = 0x7fff0000, 0x00050000 | errno.EPERM
    rules = b"".join(struct.pack("HBBI", *rule) for rule in (
        (load_word, 0, 0, 0), (jump_if_equal, 0, 1, number), (answer, 0, 0, refuse), (answer, 0, 0, allow)))
    buffer = ctypes.create_string_buffer(rules)
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)))
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, by_filter, filters):
        os._exit(99)


def until(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def state_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


class Harmless(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nigh-harmless")
        self.addCleanup(folder.cleanup)
        self.addCleanup(self.end_nighd)
        self.folder = pathlib.Path(folder.name)
        self.socket = self.folder / "n.sock"

    def nighd(self):
        """The number of the process that serves; 0: none."""
        try:
            text = pathlib.Path(str(self.socket) + ".lock").read_text().strip()
        except OSError:
            return 0
        return int(text) if text and state_of(text) not in ("gone", "Z") else 0

    def end_nighd(self):
        process = self.nighd()
        if process:
            os.kill(process, signal.SIGCONT)
            os.kill(process, signal.SIGTERM)
            until(lambda: state_of(process) in ("gone", "Z"))

    def run_with(self, before, *words, first=None, **more):
        environment = dict(QUIET, NIGH_SOCKET=str(self.socket), NIGH_PROFILES=str(self.folder / "profiles"), **more)
        with subprocess.Popen([*before, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, start_new_session=True, preexec_fn=first, cwd=self.folder) as child:
            try:
                out, err = child.communicate(timeout=LONG)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise
        return child.returncode, out, err

    def told(self, *words, **how):
        status, out, err = self.run_with([], NIGH, "run", *words, **how)
        self.assertEqual(status, 0, err)
        return out, err

    def start_nighd(self):
        """By `nigh run`, as for a program."""
        self.told("--", "true")
        self.assertTrue(self.nighd())
        return self.nighd()

    # The coordinator's first process would become a child of the program, and never end.
    def test_a_program_that_adopts_orphans_has_no_other_children(self):
        out, err = self.told("--", sys.executable, "-c", WAITER, first=become_subreaper)
        self.assertEqual((out, err), ("reaped 3\n", ""))
        self.assertFalse(self.nighd())
        out, err = self.told("-v", "--", sys.executable, "-c", WAITER, first=become_subreaper)
        self.assertEqual(out, "reaped 3\n")
        self.assertIn("is a child subreaper", err)

    def test_process_1_has_no_other_children(self):
        alone = ["unshare", "--kill-child", "-p", "-f", "--mount-proc"]
        if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True,
                                                             check=False).returncode != 0:
            self.skipTest("no namespaces of processes here")
        status, out, err = self.run_with(alone, NIGH, "run", "--", sys.executable, "-c", WAITER)
        self.assertEqual((status, out, err), (0, "reaped 3\n", ""))

    def test_a_coordinator_that_is_there_serves_programs_that_adopt_orphans(self):
        self.start_nighd()
        out, _ = self.told("--", "sh", "-c", "echo $NIGH_SOCKET", first=become_subreaper)
        self.assertEqual(out, f"{self.socket}\n")

    # glibc's own loader, by another name.
    def test_nothing_is_preloaded_for_another_loader(self):
        data = pathlib.Path(shutil.which("env")).resolve().read_bytes()
        loader = re.search(rb"\0(/[^\0]*/ld[-\w.]*\.so\.\d)\0", data)
        if not loader:
            self.skipTest("env names no loader")
        loader = loader.group(1)
        shutil.copy(os.fsdecode(loader), self.folder / "ld-musl.so.1")
        other = self.folder / "other"
        other.write_bytes(data.replace(loader, b"./ld-musl.so.1".ljust(len(loader), b"\0"), 1))
        other.chmod(0o700)
        for options in ([], ["--threads", "1"]):
            with self.subTest(options=options):
                out, err = self.told("-v", *options, "--", "./other")
                self.assertNotIn("LD_PRELOAD", out)
                self.assertIn("./other is loaded by ./ld-musl.so.1, not by glibc", err)
        for first in (f"#!{other}", "#!/usr/bin/env -S other"):
            script = self.folder / "script"
            script.write_text(f"{first} --version\n")  # as env, it would run the script again
            script.chmod(0o700)
            path = f"{self.folder}:{os.environ['PATH']}"
            with self.subTest(first=first):
                _, out, err = self.run_with([], NIGH, "run", "-v", "--", "./script", PATH=path)
                self.assertIn("env", out)
                self.assertIn(f"./script, run by {other}, is loaded by ./ld-musl.so.1, not by glibc", err)

    @unittest.skipUnless(os.uname().machine in ("x86_64", "aarch64"), "its number of the call is not known here")
    def test_where_cpus_are_not_told_the_program_runs_as_it_is(self):
        def nigh(*words):
            return subprocess.run([NIGH, *words], env=QUIET, preexec_fn=refuse_affinity, capture_output=True, text=True,
                                  timeout=LONG)
        ran = nigh("run", "--", "sh", "-c", "echo it runs; exit 3")
        self.assertEqual((ran.returncode, ran.stdout), (3, "it runs\n"))
        self.assertRegex(ran.stderr, r"^nigh: run: the system does not say .*; the program runs as without nigh\n$")
        strict = nigh("run", "--strict", "--", "true")
        self.assertEqual((strict.returncode, strict.stdout), (125, ""))
        topo = nigh("topo")
        self.assertEqual((topo.returncode, len(topo.stderr.splitlines())), (1, 1), topo.stderr)

    def test_what_is_no_program_is_refused_as_env_does(self):
        os.mkfifo(self.folder / "pipe")
        status, out, err = self.run_with([], NIGH, "run", "--", "./pipe")
        self.assertEqual((status, out), (126, ""), err)
        status, out, err = self.run_with([], NIGH, "run", "-v", "--", "no\nsuch")
        self.assertEqual((status, out), (127, ""), err)

    def test_what_is_learnt_goes_to_a_regular_file(self):
        os.mkfifo(self.folder / "pipe")
        for name in ("pipe", "/dev/null", "."):
            status, out, err = self.run_with([], NIGH, "run", "--spreads", name, "--", "true")
            self.assertEqual((status, out, err), (125, "", f'nigh: --spreads: "{name}" is no regular file\n'))
        for name in [name for name in REGIONS if name.exists()]:
            self.told("--spread", "auto", "--", str(name), "1", NIGH_SPREADS=str(self.folder / "pipe"))

    def test_a_trace_beyond_the_largest_size_of_files_ends_no_program(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        name = REGIONS[0].with_name("tasks-gcc")  # libomp makes a file of its own
        if not name.exists():
            self.skipTest("no program has tasks")
        status, out, err = self.run_with([], NIGH, "run", "--tasks", "prefer", "--", str(name), "recursion", first=limit,
                                         NIGH_TRACE=str(self.folder / "trace.json"))
        self.assertEqual((status, out), (0, "recursion 6765\n"), err)
        self.assertIn("cannot write the trace", err)
        full = self.folder / "full"
        full.touch()
        for options in ([], ["--tasks", "prefer"]):
            with open(full, "a", encoding="utf-8") as file:
                ran = subprocess.run([NIGH, "run", "-v", *options, "--", str(name), "recursion"], preexec_fn=limit, stderr=file,
                                     stdout=subprocess.PIPE, text=True, timeout=LONG, check=False,
                                     env=dict(QUIET, NIGH_SOCKET=str(self.socket), NIGH_PROFILES="none"))
            self.assertEqual((ran.returncode, ran.stdout), (0, "recursion 6765\n"))

    def test_programs_with_address_sanitizer_run_and_find_their_bugs(self):
        found = [name for name in GUARDED if name.exists()]
        if not found:
            self.skipTest("no program was built with AddressSanitizer")
        for name in found:
            for before in (["sh", "-c", "\"$@\"; exit $?", "sh"], []):
                for options in ([], ["--threads", "1"]):
                    with self.subTest(name=name, before=before, options=options):
                        status, out, err = self.run_with([], NIGH, "run", *options, "--", *before, str(name))
                        self.assertEqual((status, out), (0, "sum 10\n"), err)
                        status, out, err = self.run_with([], NIGH, "run", *options, "--", *before, str(name), "bug")
                        self.assertNotEqual(status, 0)
                        self.assertIn("heap-buffer-overflow", err)
        out, _ = self.told("--", "sh", "-c", "echo $ASAN_OPTIONS", ASAN_OPTIONS="verify_asan_link_order=1:halt_on_error=0")
        self.assertEqual(out, "verify_asan_link_order=0:verify_asan_link_order=1:halt_on_error=0\n")

    def test_where_ends_of_children_are_ignored_the_status_is_the_programs(self):
        for options in ([], ["-v"]):
            with self.subTest(options=options):
                status, _, err = self.run_with([], NIGH, "run", *options, "--", "sh", "-c", "exit 9",
                                               first=ignore_ends_of_children)
                self.assertEqual(status, 9, err)
                self.assertNotIn("lost", err)
                self.told(*options, "--", "grep", "SigIgn:.*1....$", "/proc/self/status",
                          first=ignore_ends_of_children)
        self.assertTrue(self.nighd())

    def test_where_ends_of_children_are_ignored_nighd_comes_back_and_ends(self):
        self.told("--", "true", first=ignore_ends_of_children)
        old = self.nighd()
        keeper = int(pathlib.Path(f"/proc/{old}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(old, signal.SIGKILL)
        until(lambda: self.nighd() not in (0, old))
        os.kill(keeper, signal.SIGTERM)
        until(lambda: state_of(keeper) in ("gone", "Z"))

    # Each would wait for a welcome.
    def test_programs_do_not_wait_for_a_silent_coordinator_one_by_one(self):
        found = [name for name in REGIONS if name.exists()]
        if not found:
            self.skipTest("no program has regions")
        process = self.start_nighd()
        os.kill(process, signal.SIGSTOP)
        until(lambda: state_of(process) == "T")
        begin = time.time()
        _, err = self.told("--", str(found[0]), "1")
        self.assertEqual(err, "")
        self.assertGreater(os.stat(self.socket).st_mtime, begin + 1)
        _, err = self.told("--", "sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "$@"; done', "sh",
                           str(found[0]), "1")
        self.assertEqual(err, "")
        self.assertLess(time.time() - begin, 10)
        os.kill(process, signal.SIGCONT)
        end = time.monotonic() + LONG
        while " 0 on granted cpus" in self.told("-v", "--", str(found[0]), "1")[1]:
            self.assertLess(time.monotonic(), end, "nobody asks it again")
            time.sleep(0.2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
