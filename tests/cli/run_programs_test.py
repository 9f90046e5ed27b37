#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of every runtime under `nigh run`, and what the kernel says about their threads:
run_programs_test.py NIGH FOLDER_OF_PROGRAMS [unittest arguments]. What was not built is skipped."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

NIGH, PROGRAMS = sys.argv[1], sys.argv[2]
CPUS = sorted(os.sched_getaffinity(0))
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}
QUIET["NIGH_COORDINATOR"] = "off"


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{name} was not built")
    return path


def run(options, words, environment=None, **how):
    return subprocess.run([NIGH, "run", *options, "--", *words], env=dict(QUIET, **(environment or {})),
                          capture_output=True, text=True, timeout=100, **how)


def places_of(output, count):
    """{thread: cpus} of the lines `thread K CPUS`."""
    found = dict(line.split()[1:3] for line in output.splitlines() if line.startswith("thread "))
    assert len(found) == count, output
    return [found[str(k)] for k in range(count)]


@unittest.skipIf(len(CPUS) < 2, "needs two cpus")
class Places(unittest.TestCase):
    """Two threads, in an order that nobody would choose by chance."""
    first, second = str(CPUS[1]), str(CPUS[0])
    bind = ["--bind", f"{CPUS[1]},{CPUS[0]}"]

    def told(self, name, *arguments, options=(), environment=None):
        done = run([*self.bind, *options], [program(name), *arguments], environment)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def check_openmp(self, name):
        self.assertEqual(places_of(self.told(name), 2), [self.first, self.second])
        one = run(["--threads", "1"], [program(name)])
        self.assertEqual(places_of(one.stdout, 1), [str(CPUS[0])])

    def test_openmp_of_gcc(self):
        self.check_openmp("where-openmp-gcc")

    def test_openmp_of_clang(self):
        self.check_openmp("where-openmp-clang")

    def test_openmp_of_gfortran(self):
        output = self.told("where-openmp-gfortran")
        self.assertEqual(output.split("\n")[:2], [f"thread 0 {self.first} of 1", f"thread 1 {self.second} of 1"])

    def test_binding_of_the_environment_is_overruled_by_bind_only(self):
        rivals = {"OMP_PROC_BIND": "false", "GOMP_CPU_AFFINITY": self.second, "OMP_NUM_THREADS": "1"}
        told = self.told("where-openmp-gcc", environment=rivals)
        self.assertEqual(places_of(told, 2), [self.first, self.second])
        left = run(["--threads", "2"], [program("where-openmp-gcc")], {"OMP_PROC_BIND": "false"})
        self.assertEqual(places_of(left.stdout, 2), [",".join(map(str, CPUS))] * 2)

    def test_kmp_affinity_is_overruled(self):
        told = self.told("where-openmp-clang", environment={"KMP_AFFINITY": "disabled"})
        self.assertEqual(places_of(told, 2), [self.first, self.second])

    def test_schedule_reaches_openmp(self):
        for name in ("where-openmp-gcc", "where-openmp-clang"):
            for schedule, means in (("static,3", "1,3"), ("dynamic,5", "2,5"), ("guided,7", "3,7")):
                with self.subTest(name=name, schedule=schedule):
                    self.assertIn(f"schedule {means}\n", self.told(name, options=["--schedule", schedule]))

    def test_pthreads_take_places_in_turn(self):
        output = self.told("where-pthreads", "3")
        both = ",".join(map(str, sorted(CPUS[:2])))
        self.assertIn(f"before {both}\n", output)
        self.assertEqual(places_of(output, 4), [self.first, self.second, self.first, self.second])
        self.assertIn(f"child {both} and {both}\n", output)
        self.assertIn("shown 2 2 2, to a thread 2 2 2, of its own 1 1 1\n", output)

    def test_threads_that_come_and_go_in_odd_ways(self):
        output = self.told("where-odd-threads", self.first)
        self.assertEqual(output.splitlines(), [f"thread early {self.second}", f"thread later {self.second}",
                                               f"thread asked {self.first}", f"thread opened {self.second}"])

    def test_static_programs_are_told_and_left_alone(self):
        done = run(["-v", *self.bind], [program("where-static"), "1"])
        self.assertIn("is linked statically", done.stderr)
        both = ",".join(map(str, sorted(CPUS[:2])))
        self.assertEqual(places_of(done.stdout, 2), [both, both])

    def test_a_program_that_its_loader_starts(self):
        loader = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(loader):
            self.skipTest("no loader of this name")
        done = run(["-v", *self.bind], [loader, program("where-openmp-gcc")])
        self.assertEqual(places_of(done.stdout, 2), [self.first, self.second])
        self.assertNotIn("statically", done.stderr)

    def test_tbb_takes_as_many_threads_as_places(self):
        self.assertEqual(places_of(self.told("where-tbb"), 2), [self.first, self.second])
        alone = run(["--threads", "1"], [program("where-tbb")])
        self.assertEqual(places_of(alone.stdout, 1), [str(CPUS[0])])

    def test_nigh_takes_its_cpus_in_order(self):
        output = self.told("where-nigh")
        self.assertEqual(places_of(output, 2), [self.first, self.second])
        self.assertIn("own ", output)

    def test_scripts_pass_it_on(self):
        output = self.told_script(f"{program('where-pthreads')} 1; exec {program('where-openmp-gcc')}")
        self.assertEqual(output.count(f"thread 0 {self.first}\n"), 2)
        self.assertEqual(output.count(f"thread 1 {self.second}\n"), 2)

    def told_script(self, script):
        done = run(self.bind, ["sh", "-c", script])
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_taskset_inside_restricts(self):
        output = self.told_script(f"taskset -c {self.second} {program('where-pthreads')} 1")
        self.assertEqual(places_of(output, 2), [self.second, self.second])

    def test_programs_that_a_placed_thread_starts_may_run_on_all_places(self):
        script = """if True:
            import os, subprocess, sys, threading
            show = ["grep", "Cpus_allowed_list", "/proc/self/status"]
            ways = [lambda: subprocess.run(show), lambda: subprocess.run(show, preexec_fn=lambda: None),
                    lambda: os.waitpid(os.posix_spawnp(show[0], show, os.environ), 0),
                    lambda: os.system(" ".join(show))]
            def own():  # os.sched_getaffinity() is shown all places
                return [l.split()[1] for l in open("/proc/thread-self/status") if l.startswith(show[1])][0]
            def all_ways():
                before = own()
                for way in ways: way()
                assert before.isdigit() and before == own()
                assert len(os.sched_getaffinity(0)) == 2
            thread = threading.Thread(target=all_ways)
            thread.start()
            thread.join()
            all_ways()
            os.execvp(show[0], show)"""
        done = run(self.bind, [sys.executable, "-c", script])
        lists = [line.split()[1] for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(set(lists)), 1, done.stdout)
        self.assertEqual(len(lists), 9)
        self.assertNotIn(lists[0], (self.first, self.second))

    def test_programs_inherit_what_the_program_itself_has_bound(self):
        script = f"""if True:
            import os, subprocess, threading
            thread = threading.Thread(target=lambda: None)
            thread.start()
            thread.join()
            os.sched_setaffinity(0, [{self.second}])
            subprocess.run(["grep", "Cpus_allowed_list", "/proc/self/status"])"""
        done = run(self.bind, [sys.executable, "-c", script])
        self.assertEqual(done.stdout.split(), ["Cpus_allowed_list:", self.second])
        bound = run(self.bind, ["taskset", "-c", self.first, "grep", "Cpus_allowed_list", "/proc/self/status"])
        self.assertEqual(bound.stdout.split(), ["Cpus_allowed_list:", self.first])

    def test_the_status_is_the_programs_without_anywhere_to_complain_to(self):
        for options, words, status in ((["-v"], "sh -c 'exit 4'", 4), (["-v"], "/nonexistent", 127),
                                       ([], "/nonexistent", 127)):
            with self.subTest(options=options, words=words):
                line = f"'{NIGH}' run {' '.join(options)} -- {words} 2>&-"
                self.assertEqual(subprocess.run(["sh", "-c", line], env=QUIET, timeout=100, check=False).returncode,
                                 status)

    def test_huge_lists_of_places_are_refused_at_once(self):
        done = run(["--bind", "{0-65535}:16384"], ["true"])
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"^nigh: --bind: [^\n]* is no list of cpus [^\n]*\n$")

    def test_what_the_loader_cannot_read_is_not_preloaded(self):
        with tempfile.TemporaryDirectory(prefix="two words ") as folder:
            nigh = os.path.join(folder, "bin", "nigh")
            os.makedirs(os.path.dirname(nigh))
            shutil.copy(NIGH, nigh)
            shutil.copytree(os.path.join(os.path.dirname(NIGH), "..", "libexec"), os.path.join(folder, "libexec"))
            done = subprocess.run([nigh, "run", "-v", *self.bind, "--", "sh", "-c", "echo \"<$LD_PRELOAD>\""],
                                  env=QUIET, capture_output=True, text=True, timeout=100)
            self.assertEqual(done.stdout, "<>\n")
            self.assertIn("cannot be preloaded, because of the space or colon in its name", done.stderr)
            self.assertNotIn("ld.so", done.stderr)

    @unittest.skipIf(shutil.which("java") is None, "needs Java")
    def test_java_counts_all_cpus(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "Count.java")
            with open(source, "w", encoding="utf-8") as file:
                file.write("public class Count { public static void main(String[] words) {"
                           " System.out.println(Runtime.getRuntime().availableProcessors()); } }")
            self.assertEqual(run(self.bind, ["java", source]).stdout, "2\n")

    def test_taskset_outside_restricts(self):
        words = ["taskset", "-c", self.second, NIGH, "run", "--threads"]
        done = subprocess.run([*words, "2", "true"], env=QUIET, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.stderr, f"nigh: --threads 2: only 1 cpu is allowed ({self.second})\n")
        self.assertEqual(done.returncode, 125)
        one = subprocess.run([*words, "1", program("where-openmp-gcc")], env=QUIET, capture_output=True,
                             text=True, timeout=100)
        self.assertEqual(places_of(one.stdout, 1), [self.second])

    def test_other_preloaded_libraries_stay(self):
        # nigh itself may be built with AddressSanitizer, which wants to come first.
        environment = {"LD_PRELOAD": "libm.so.6", "ASAN_OPTIONS": "verify_asan_link_order=0"}
        done = run(self.bind, ["sh", "-c", "echo $LD_PRELOAD"], environment)
        self.assertRegex(done.stdout, r"^libm\.so\.6:/.*/nigh-places\.so\n$")

    def test_a_preloaded_runtime_comes_behind(self):
        environment = {"LD_PRELOAD": "libm.so.6 libgomp.so.1:libm.so.6", "ASAN_OPTIONS": "verify_asan_link_order=0"}
        done = run(self.bind, ["sh", "-c", "echo $LD_PRELOAD"], environment)
        self.assertRegex(done.stdout, r"^libm\.so\.6:/.*/nigh-places\.so:libgomp\.so\.1:libm\.so\.6\n$")

    def test_shell_lines_do_the_same(self):
        lines = run([*self.bind, "--dry-run"], [program("where-openmp-gcc")]).stdout
        done = subprocess.run(["sh", "-c", lines], env=QUIET, capture_output=True, text=True, timeout=100)
        self.assertEqual(places_of(done.stdout, 2), [self.first, self.second])

    def test_watching_says_where_threads_ran(self):
        script = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"
        done = run(["-v", "--bind", self.second], ["sh", "-c", script])
        self.assertRegex(done.stderr, rf"sh \d+ +\d.\d\d s +\d+  cpu {self.second} 100%\n")


class Signals(unittest.TestCase):
    """With and without somebody who watches: the program hears what nigh is sent."""

    def start(self, options, words):
        # In a group of its own, for the kernel does not stop one whose parent's group is orphaned.
        return subprocess.Popen([NIGH, "run", *options, "--", *words], env=QUIET, text=True, process_group=0,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_each_is_passed_on(self):
        for options in ([], ["-v"]):
            with self.subTest(options=options):
                child = self.start(options, [program("signals")])
                self.assertTrue(child.stdout.readline().startswith("ready "))
                for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGWINCH,
                               signal.SIGCONT, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU,
                               signal.SIGXFSZ, signal.SIGPWR, signal.SIGTTIN, signal.SIGRTMIN, signal.SIGRTMAX):
                    child.send_signal(number)
                    self.assertEqual(child.stdout.readline(), f"got {int(number)}\n")
                child.send_signal(signal.SIGTERM)
                self.assertEqual(child.communicate(timeout=100)[0], "got 15\n")
                self.assertEqual(child.returncode, 42)

    def test_an_alarm_that_was_set_before_ends_the_program(self):
        alarmed = "import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 0.5); os.execv(sys.argv[1], sys.argv[1:])"
        for options in ([], ["-v"]):
            with self.subTest(options=options):
                done = subprocess.run([sys.executable, "-c", alarmed, NIGH, "run", *options, "--", "sleep", "60"], env=QUIET,
                                      capture_output=True, timeout=50, check=False)
                self.assertEqual(done.returncode, -signal.SIGALRM, done.stderr)

    def test_death_by_signal_is_death_by_signal(self):
        for options in ([], ["-v"]):
            with self.subTest(options=options):
                child = self.start(options, [program("signals")])
                child.stdout.readline()
                child.send_signal(signal.SIGINT)
                child.communicate(timeout=100)
                self.assertEqual(child.returncode, -signal.SIGINT)

    def test_stopped_with_the_program_and_continued(self):
        child = self.start(["-v"], [program("signals")])
        pid = int(child.stdout.readline().split()[1])
        child.send_signal(signal.SIGTSTP)
        for process in (child.pid, pid):
            self.await_state(process, "T")
        child.send_signal(signal.SIGCONT)
        self.assertEqual(child.stdout.readline(), f"got {int(signal.SIGCONT)}\n")
        for process in (child.pid, pid):
            self.await_state(process, "S")
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=100)
        self.assertEqual(child.returncode, 42)

    def await_state(self, process, state):
        for _ in range(1000):
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == state:
                    return
            time.sleep(0.01)
        self.fail(f"process {process} never was in state {state}")

    def test_the_program_does_not_outlive_the_one_who_watches(self):
        child = self.start(["-v"], [program("signals")])
        pid = int(child.stdout.readline().split()[1])
        child.kill()
        child.communicate(timeout=100)
        for _ in range(1000):
            if not os.path.exists(f"/proc/{pid}/fd") or not os.listdir(f"/proc/{pid}/task"):
                return
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return
            time.sleep(0.01)
        self.fail("it is still there")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
