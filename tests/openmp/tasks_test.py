#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tidy: long, because each rule is a short test of its own
"""OpenMP programs whose tasks nigh runs; what was not built is skipped. Arguments:
SCRIPTED_SHIM SHIM NIGHD FOLDER_OF_PROGRAMS TASKS_LIBRARY TASKS_LIBRARY_OF_TWO_DOMAINS [those of unittest]"""
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import shim_test

SCRIPTED, SHIM, NIGHD, PROGRAMS, TASKS, TWO_DOMAINS = map(os.path.abspath, sys.argv[1:7])
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}
CHECK_TRACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "check_trace.py")
# The lines of programs/tasks.cpp, which do not depend on the schedule.
EXPECTED = """\
recursion 6765
orphans 232750
groups 20
dependences 940005
readers_and_writers 500
waits_for_some 12
all_memory 0
depend_objects 929608
loops 1403119
long_loops 200169999
last_private 76
reductions 4953465027
reductions_of_regions 7800780
reductions_of_both 91002435
nestable_locks 100
events 80
final_tasks 1010
untied_tasks 950
at_once 5050
objects 11683000
alignment 1560
sizes 1000
large 445500000
nested 930
serialized 100
sections_and_loops 3043511
barriers 0
copied 0
locks 240
thread_private 200
chains 20001
many 200000
caught 2525
other_threads 3435
settings 0
forked 45
"""


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{name} was not built")
    return path


def run(name, *words, tasks=True, shim=SHIM, status=0, limit=None, **environment):
    """Its output, and what is on standard error."""
    variables = dict(QUIET, LD_PRELOAD=f"{TASKS if tasks is True else tasks}:{shim}" if tasks else shim, **environment)
    done = subprocess.run([program(name), *words], env=variables, capture_output=True, text=True, timeout=100,
                          check=False, preexec_fn=limit)
    assert done.returncode == status, f"{name} {words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


class Cases(unittest.TestCase):
    def check(self, name, **environment):
        with self.subTest(name=name, **environment):
            self.assertEqual(run(name, **environment), (EXPECTED, ""))

    def test_threads(self):
        for name in ("tasks-gcc", "tasks-clang"):
            for threads in ("1", "2", "3", "8", "40"):
                self.check(name, OMP_NUM_THREADS=threads)

    def test_ways_to_wait(self):
        for name in ("tasks-gcc", "tasks-clang"):
            for how in ("active", "passive"):
                self.check(name, OMP_NUM_THREADS="4", OMP_WAIT_POLICY=how)

    def test_numbers_of_threads_in_libomp(self):
        for threads in ("1", "2", "5"):
            with self.subTest(threads=threads):
                out, err = run("numbers-clang", OMP_NUM_THREADS=threads)
                self.assertEqual((out, err), ("wrong 0\nchild: wrong 0\n", ""))

    def test_small_stacks(self):
        """Of the team's threads: what is run at once must not use them up."""
        for name in ("tasks-gcc", "tasks-clang"):
            self.check(name, OMP_NUM_THREADS="3", OMP_STACKSIZE="1M")

    def test_the_end_of_the_program_inside_a_task(self):
        for name in ("tasks-gcc", "tasks-clang"):
            for threads in ("1", "4"):
                self.assertEqual(run(name, "exit", status=7, OMP_NUM_THREADS=threads)[0], "exit\n")

    def test_little_address_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        for name in ("tasks-gcc", "tasks-clang"):
            with self.subTest(name=name):
                self.assertEqual(run(name, "many", limit=limit, OMP_NUM_THREADS="4")[0], "many 200000\n")


class Rules(unittest.TestCase):
    """programs/task_rules.cpp and its like: what a scheduler breaks easily."""

    def check(self, name, case, expected, **environment):
        with self.subTest(name=name):
            self.assertEqual(run(name, case, **environment), (f"{case} {expected}\n", ""))

    def check_both(self, case, expected, **environment):
        for name in ("task_rules-gcc", "task_rules-clang"):
            self.check(name, case, expected, **environment)

    def test_fortran_fulfills_events(self):
        self.check("task_rules-gfortran", "event", 11)

    def test_nestable_locks_of_fortran_belong_to_tasks(self):
        self.check("task_rules-gfortran", "lock", "2 0")

    def test_a_thread_that_waits_may_end_its_wait_itself(self):
        for name in ("task_corners-gcc", "task_corners-clang"):
            self.check(name, "in_a_handler", 2)
            self.check(name, "before_a_copy", 6)
            self.check(name, "copies", 3 * 199 * 100)

    def test_a_thread_that_made_tasks_may_be_away(self):
        for name in ("task_corners-gcc", "task_corners-clang"):
            self.check(name, "away", 3 * 144 + 3108)

    def test_threads_come_back_from_the_runtimes_barriers(self):
        for name in ("task_corners-gcc", "task_corners-clang"):
            for variables in ({}, {"OMP_WAIT_POLICY": "passive"}, {"KMP_BLOCKTIME": "0"}, {"KMP_TASKING": "0"}):
                self.check(name, "late", 2 * 3008, **variables)
                self.check(name, "first_tasks", 50 * (124 + 45), **variables)
                self.check(name, "settings_of_the_first", 0, OMP_NUM_THREADS="2", **variables)

    def test_threads_have_their_part_of_a_reduction_when_tasks_come_late(self):
        for name in ("late_reduction-gcc", "late_reduction-clang"):
            for _ in range(3):
                self.assertEqual(run(name), ("4951\n", ""))

    def test_steps_that_wrap(self):
        self.check("task_corners-gcc", "wrapping_steps", 12)
        self.check("task_corners-clang", "wrapping_steps", 12)

    def test_much_of_something(self):
        for name in ("task_corners-gcc", "task_corners-clang"):
            self.check(name, "deep_waits", 69708)
            self.check(name, "large_arguments", 59941)
            self.check(name, "many_arguments", 500001)

    def test_edges(self):
        for name in ("task_edges-gcc", "task_edges-clang"):
            for threads in ("1", "2", "600"):
                for case, answer in (("jumps", 100), ("megabytes", 190), ("thousand_variables", 6000)):
                    self.check(name, case, answer, OMP_NUM_THREADS=threads)
            plain = run(name, "leaves", tasks=False, status=-signal.SIGABRT, OMP_NUM_THREADS="2")
            self.assertIn("left a task", plain[1])
            self.assertEqual(run(name, "leaves", status=-signal.SIGABRT, OMP_NUM_THREADS="2"), plain)

    def test_strict_on_one_domain(self):
        for name in ("tasks-gcc", "tasks-clang"):
            self.assertEqual(run(name, NIGH_TASKS="strict", OMP_NUM_THREADS="3"), (EXPECTED, ""))

    def test_more_tasks_than_wait_at_once(self):
        for name in ("many_tasks-gcc", "many_tasks-clang"):
            for threads in ("1", "2", "5"):
                for case in ("loops", "dependences", "without_order"):
                    self.check(name, case, 0, OMP_NUM_THREADS=threads)

    def test_an_undeferred_task_does_not_wait_for_its_own(self):
        self.check("task_corners-clang", "undeferred_with_a_task", 11)

    def test_destructors_of_a_thread_may_have_tasks(self):
        self.check("task_corners-gcc", "in_a_destructor", 0)

    def test_addresses_of_tasks_that_have_ended_are_forgotten(self):
        self.check_both("fresh_addresses", 500000)

    def test_a_long_task_keeps_no_other_from_a_thread_without_one(self):
        self.check_both("tasks_that_meet", 80)

    def test_settings_go_to_the_tasks_of_a_loop(self):
        self.check_both("loop_of_a_task_with_settings", 270)

    def test_a_tasks_default_device_is_its_own(self):
        for _ in range(3):
            self.check_both("device_of_a_task", 30)

    def test_settings_of_an_implicit_task_go_with_its_tasks(self):
        self.check_both("settings_of_an_implicit_task", 0)

    def test_regions_of_another_compiler_keep_their_own_barriers(self):
        self.check("task_rules-clang", "regions_of_another_compiler", 22, OMP_MAX_ACTIVE_LEVELS="2")

    def test_constructs_of_another_compiler_bind_to_its_own_runtime(self):
        self.assertEqual(run("task_rules-gcc", "constructs_of_another_compiler", program("library-clang.so")),
                         ("constructs_of_another_compiler 4601\n", ""))

    def test_a_thread_that_waits_at_the_end_of_a_construct_takes_later_tasks(self):
        self.check_both("late_in_a_loop", 1)

    def test_a_single_construct_waits_for_nobody_before_its_body(self):
        self.check_both("late_to_a_copy", 60)

    def test_taskyield_of_gcc_runs_nothing_that_may_need_a_lock(self):
        self.check("task_rules-gcc", "yield_with_a_lock", 10)

    def test_strict_grains_larger_than_the_loop(self):
        self.check_both("strict_grain_of_everything", 10)

    def test_reductions_of_a_taskgroup_that_another_thread_has_begun(self):
        self.check("task_rules-clang", "reductions_in_functions", 160001600)

    def test_waits_that_do_not_wait(self):
        self.check("task_rules-gcc", "waits_that_do_not_wait", 10)

    def test_tasks_of_clang_wait_for_each_other_where_libomp_can(self):
        self.check("task_rules-clang", "untied_tasks_in_a_ring", 80320)
        self.check("task_rules-clang", "any_order_in_a_mutexinoutset", 26001)

    def test_a_task_knows_that_it_is_one(self):
        self.check("task_rules-clang", "explicit_tasks", 11)

    def test_a_task_that_fulfills_an_event_runs_only_its_own(self):
        for _ in range(5):
            self.check_both("events_of_a_task_that_waits", 1)

    def test_a_thread_behind_a_barrier_leaves_tasks_of_the_next_loop_alone(self):
        for _ in range(5):  # without this rule, one in four ended by a signal
            self.check("task_rules-gcc", "late_at_a_barrier", 320000)

    def test_tasks_of_a_region_whose_condition_is_false_end_with_it(self):
        self.assertEqual(run("serial_tasks-clang"), ("64 128 129\n", ""))


class Traces(unittest.TestCase):
    """NIGH_TRACE: the same results, and a file of what became of the tasks."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "trace.json")

    def read(self, file=None):
        command = [sys.executable, CHECK_TRACE, file or self.file]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        with open(file or self.file, encoding="utf-8") as trace:
            return json.load(trace)

    def test_results_are_the_same(self):
        for name in ("tasks-gcc", "tasks-clang"):
            for threads in ("1", "3", "8"):
                with self.subTest(name=name, threads=threads):
                    self.assertEqual(run(name, OMP_NUM_THREADS=threads, NIGH_TRACE=self.file), (EXPECTED, ""))
                    self.read()

    def test_sums(self):
        for name in ("tasks-gcc", "tasks-clang"):
            with self.subTest(name=name):
                run(name, "recursion", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
                trace = self.read()
                sums = trace["otherData"]
                self.assertEqual((sums["format"], sums["program"], sums["runtimes"], sums["workers"]), (2, name, 1, 2))
                self.assertGreater(sums["created"], 1000)
                self.assertEqual(sum(code["tasks"] for code in sums["codes"]), sums["created"])
                self.assertEqual(sums["file"], os.path.realpath(program(name)))
                self.assertTrue(all(code["library"] == "" for code in sums["codes"]))
                self.assertLess(sum(code["ns"] for code in sums["codes"]), sums["busy_ns"])
                self.assertLess(sums["busy_ns"], 2 * sums["elapsed_ns"])
                self.assertEqual([thread["thread"] for thread in sorted(sums["threads"], key=lambda t: t["thread"])], [0, 1])
                busy = sum(thread["tasks_ns"] + thread["own_ns"] for thread in sums["threads"])
                self.assertAlmostEqual(busy, sums["busy_ns"], delta=sums["elapsed_ns"] / 10)
                for thread in sums["threads"]:
                    self.assertGreater(thread["own_ns"] + thread["tasks_ns"], 0)
                    self.assertLess(sum(thread.values()) - thread["thread"], 1.1 * sums["elapsed_ns"])
                steals = [event for event in trace["traceEvents"] if event["name"] == "steal"]
                self.assertEqual(len(steals), sum(sums["steals"].values()))
                self.assertEqual(sum(event["args"]["tasks"] for event in steals), sums["stolen"])
                regions = [event for event in trace["traceEvents"] if event["name"] == "region"]
                self.assertGreaterEqual(len(regions), 2)

    def test_a_name_that_a_terminal_would_obey(self):
        hostile = os.path.join(self.folder, "\033[31mred\u202e\n")
        shutil.copy(program("tasks-gcc"), hostile)
        run(hostile, "recursion", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
        trace, shown = self.read(), "\\x1b[31mred\\xe2\\x80\\xae\\x0a"
        self.assertEqual(trace["otherData"]["program"], shown)
        names = [event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"]
        self.assertEqual([name.split(",")[0] for name in names], [shown])

    def test_nested_regions_count_once(self):
        run("tasks-gcc", "nested", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
        sums = self.read()["otherData"]
        threads = sum("thread_name" == event["name"] for event in self.read()["traceEvents"])
        self.assertLessEqual(sums["busy_ns"], threads * sums["elapsed_ns"])

    def test_more_events_than_are_kept(self):
        run("tasks-gcc", "many", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
        self.assertGreaterEqual(self.read()["otherData"]["created"], 200000)

    def test_the_end_of_the_program_inside_a_task(self):
        for name in ("tasks-gcc", "tasks-clang"):
            run(name, "exit", status=7, OMP_NUM_THREADS="4", NIGH_TRACE=self.file)
            with open(self.file, encoding="utf-8") as trace:
                self.assertEqual(json.load(trace)["otherData"]["program"], name)

    def test_a_signal_that_ends_the_program(self):
        """The trace holds what was done until then, and the task that was under way."""
        def end(name, number, *more):
            variables = dict(QUIET, LD_PRELOAD=f"{TASKS}:{SHIM}", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
            with subprocess.Popen([program(name), "endless", *more], env=variables, text=True,
                                  stdout=subprocess.PIPE) as child:
                self.assertEqual(child.stdout.readline(), "ready\n")
                time.sleep(0.3)
                child.send_signal(number)
                return child.wait(20)

        for name in ("tasks-gcc", "tasks-clang"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(name=name, signal=number):
                    self.assertEqual(end(name, number), -number)
                    trace = self.read()
                    sums = trace["otherData"]
                    self.assertEqual((sums["created"], sums["workers"]), (101, 2))
                    self.assertEqual(sum(code["tasks"] for code in sums["codes"]), 101)
                    self.assertGreater(max(code["ns"] for code in sums["codes"]), 2e8)
                    self.assertLess(sums["busy_ns"], 2 * sums["elapsed_ns"])
                    longest = max(event["dur"] for event in trace["traceEvents"] if event["name"] == "region")
                    self.assertGreater(longest, 2e5)
                    self.assertEqual(os.listdir(self.folder), ["trace.json"])
                    os.remove(self.file)
        for number in (signal.SIGKILL, signal.SIGQUIT):
            end("tasks-gcc", number)
            self.assertEqual(os.listdir(self.folder), [])

    def test_processes_have_files_of_their_own(self):
        folder = os.path.join(self.folder, "50%process")
        os.mkdir(folder)
        out, _ = run("tasks-gcc", "forked", OMP_NUM_THREADS="2", NIGH_TRACE=os.path.join(folder, "%p.json"))
        self.assertEqual(out, "forked 45\n")
        self.assertNotEqual(os.listdir(folder), [])
        for name in os.listdir(folder):
            self.assertEqual(f"{self.read(os.path.join(folder, name))['otherData']['process']}.json", name)

    def test_nothing_is_done_behind_a_signal_of_its_own(self):
        for name in ("tasks-gcc", "tasks-clang"):
            for _ in range(5):
                out, _ = run(name, "recursion", "raise", status=-signal.SIGTERM, OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
                self.assertEqual(out, "recursion 6765\n")
                self.assertEqual(self.read()["otherData"]["program"], name)

    def test_a_child_counts_its_own_tasks_and_threads(self):
        """libgomp begins no team in the child of a process that has had one."""
        out, _ = run("tasks-clang", "recursion", "fork", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
        self.assertEqual(out, "recursion 6765\nrecursion 6765\n")
        first, second = (self.read(os.path.join(self.folder, file))["otherData"] for file in os.listdir(self.folder))
        self.assertNotEqual(first["process"], second["process"])
        for sums in (first, second):
            self.assertEqual(sums["workers"], 2)
            self.assertEqual(sums["created"], sum(code["tasks"] for code in sums["codes"]))
        self.assertEqual(first["created"], second["created"])

    def test_a_file_of_an_earlier_run_is_replaced(self):
        with open(self.file, "w", encoding="utf-8") as old:
            old.write("old")
        os.utime(self.file, (1, 1))
        run("tasks-gcc", "recursion", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
        self.read()
        self.assertEqual(os.listdir(self.folder), ["trace.json"])

    def test_a_file_that_cannot_be_written(self):
        missing = os.path.join(self.folder, "missing", "trace.json")
        self.assertEqual(run("tasks-gcc", "recursion", OMP_NUM_THREADS="2", NIGH_TRACE=missing),
                         ("recursion 6765\n", f"nigh: cannot write the trace {missing}: No such file or directory\n"))

    def test_a_pipe_is_refused_and_stays_one(self):
        os.mkfifo(self.file)
        self.assertEqual(run("tasks-gcc", "recursion", OMP_NUM_THREADS="2", NIGH_TRACE=self.file),
                         ("recursion 6765\n", f"nigh: cannot write the trace {self.file}: it is no regular file\n"))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.file).st_mode))
        self.assertEqual(os.listdir(self.folder), ["trace.json"])

    def test_no_tasks_no_file(self):
        run("waits-gcc", OMP_NUM_THREADS="2", NIGH_TRACE=self.file)
        self.assertEqual(os.listdir(self.folder), [])


class Crowded(unittest.TestCase):
    def test_quick_tasks_of_a_loop_are_not_all_one_threads(self):
        """By chance they may be, now and then: about one time in ten; without a turn for the others, more than one in two."""
        for name in ("tasks-gcc", "tasks-clang"):
            shared = [run(name, "quick_loop", OMP_NUM_THREADS="500")[0] != "quick_loop 1\n" for _ in range(30)]
            self.assertGreater(sum(shared), 15, shared)


class LeftAlone(unittest.TestCase):
    def test_cancellation(self):
        said = "its tasks are left alone: OMP_CANCELLATION lets tasks be cancelled\n"
        for name in ("tasks-gcc", "tasks-clang"):
            for value, is_left in (("true", True), (" TRUE ", True), ("y", True), (".t.", True), ("enabled", True), ("on", True),
                                   ("false", False), (" No", False), (".F.", False), ("off", False), ("", False)):
                out, err = run(name, "recursion", OMP_CANCELLATION=value, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
                self.assertEqual((out, said in err), ("recursion 6765\n", is_left), (value, err))

    def test_any_number_of_tasks_that_wait(self):
        said = "its tasks are left alone: KMP_ENABLE_TASK_THROTTLING lets any number of them wait\n"
        for value, is_left in (("0", True), ("false", True), (" Off", True), ("1", False), ("", False)):
            out, err = run("tasks-clang", "recursion", KMP_ENABLE_TASK_THROTTLING=value, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
            self.assertEqual((out, said in err), ("recursion 6765\n", is_left), (value, err))

    def test_priorities(self):
        for name in ("tasks-gcc", "tasks-clang"):
            for most, is_left in (("0", False), ("1", True), ("none", False)):
                out, err = run(name, "recursion", OMP_MAX_TASK_PRIORITY=most, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
                self.assertEqual(out, "recursion 6765\n")
                said = "its tasks are left alone: OMP_MAX_TASK_PRIORITY puts them in an order\n"
                self.assertEqual(said in err, is_left, err)

    def test_a_tool(self):
        _, err = run("tasks-clang", "recursion", OMP_TOOL_LIBRARIES="/nonexistent/tool.so", NIGH_VERBOSE="1",
                     OMP_NUM_THREADS="2")
        self.assertIn("its tasks are left alone: an OMPT tool sees its tasks\n", err)
        for name in ("tool-gcc", "tool-clang"):  # the tool is a function of the program
            out, err = run(name, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
            self.assertEqual(out, "2\n")
            self.assertIn(f"nigh: {name}: its tasks are left alone: an OMPT tool sees its tasks\n", err)

    def test_target_regions(self):
        """Of the program; and of a library that is opened within a region, whose tasks are nigh's then."""
        said = "its tasks are left alone: it has target regions that may be tasks\n"
        for which in ("gcc", "clang"):
            for name, words in ((f"targets-whole-{which}", ()), (f"targets-{which}", (program(f"targets-{which}.so"),))):
                for threads in ("1", "2", "4"):
                    out, err = run(name, *words, NIGH_VERBOSE="1", OMP_NUM_THREADS=threads)
                    self.assertEqual((out, said in err), ("1 7135\n1 8135\n", True), (name, threads, err))

    def test_dependences_of_unknown_kinds(self):
        said = "its tasks are left alone: a task has a dependence of a kind that nigh does not know\n"
        for which in ("gcc", "clang"):
            for threads in ("1", "2", "4"):
                out, err = run(f"strange_depend-{which}", NIGH_VERBOSE="1", OMP_NUM_THREADS=threads)
                self.assertEqual((out, said in err), ("0 1 2\n4950\n", True), (which, threads, err))

    def test_gcc_on_libomp(self):
        """As in conda environments, where libgomp.so.1 is a link to libomp."""
        needs = subprocess.run(["ldd", program("tasks-clang")], capture_output=True, text=True, check=True).stdout
        libomp = re.search(r"libomp\S* => (\S+)", needs)[1]
        with tempfile.TemporaryDirectory() as there:
            os.symlink(libomp, os.path.join(there, "libgomp.so.1"))
            out, err = run("affinity-gcc", LD_LIBRARY_PATH=there, NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        self.assertRegex(out, "^\\d+ of 100 near$")
        self.assertIn("nigh: affinity-gcc: tasks of gcc's code are left alone: it runs on libomp\n", err)

    def test_programs_without_tasks(self):
        for name in ("waits-gcc", "waits-clang"):
            out, err = run(name, NIGH_VERBOSE="1", OMP_NUM_THREADS="3")
            self.assertEqual(out, run(name, tasks=False, OMP_NUM_THREADS="3")[0])
            self.assertNotIn("tasks", err)

    def test_switched_off(self):
        _, err = run("tasks-gcc", "recursion", NIGH_TASKS="off", NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
        self.assertNotIn("tasks,", err)


class Affinity(unittest.TestCase):
    """On a machine of two domains that is made up (scripted_domains.cpp)."""

    def near(self, name, *words, **environment):
        out, err = run(name, "600", *words, tasks=TWO_DOMAINS, NIGH_VERBOSE="1", **environment)
        near, all_tasks = map(int, re.match(r"(\d+) of (\d+) near\n", out).groups())
        self.assertEqual(all_tasks, 600)
        return near, err

    def test_strict_tasks_stay(self):
        for threads in ("2", "3", "8"):
            near, err = self.near("affinity-clang", NIGH_TASKS="strict", OMP_NUM_THREADS=threads)
            self.assertEqual(near, 600)
            self.assertIn(", 600 near their data, 0 elsewhere\n", err)

    def test_other_tasks_are_all_run(self):
        for threads in ("1", "2", "5"):
            near, err = self.near("affinity-clang", NIGH_TASKS="prefer", OMP_NUM_THREADS=threads)
            if threads != "1":
                told = re.search(r", (\d+) near their data, (\d+) elsewhere\n", err)
                self.assertEqual(int(told[1]), near)
                self.assertEqual(int(told[1]) + int(told[2]), 600)

    def test_dependences_are_hints_when_asked(self):
        for name in ("affinity-gcc", "affinity-clang"):
            near, _ = self.near(name, "depend", NIGH_TASKS="strict,data=depend", OMP_NUM_THREADS="4")
            self.assertEqual(near, 600)
            _, err = self.near(name, "depend", NIGH_TASKS="strict", OMP_NUM_THREADS="4")
            self.assertNotIn("near their data", err)

    def test_all_cases(self):
        for how in ("prefer,data=depend", "strict,data=depend"):
            for name in ("tasks-gcc", "tasks-clang"):
                self.assertEqual(run(name, tasks=TWO_DOMAINS, NIGH_TASKS=how, OMP_NUM_THREADS="5"), (EXPECTED, ""))

    def test_a_loop_that_ends_while_a_task_waits_for_one_of_another_domain(self):
        for name in ("affinity-gcc", "affinity-clang"):
            for _ in range(20):
                out, _ = run(name, "loop", tasks=TWO_DOMAINS, NIGH_TASKS="strict,data=depend", OMP_NUM_THREADS="4")
                self.assertEqual(out, "loop 8000\n")


class Calling(unittest.TestCase):
    def test_a_call_looks_for_its_runtime_once(self):
        """Of a library that is opened later, as of Python's modules: each place would walk through all libraries again."""
        for kind in ("gcc", "clang", "tasks-gcc", "tasks-clang"):
            with self.subTest(kind=kind):
                self.assertEqual(run("callers", program(f"callers-{kind}.so")), ("some, then 0\n", ""))


class Telling(unittest.TestCase):
    def test_how_many_tasks(self):
        for name in ("tasks-gcc", "tasks-clang"):
            _, err = run(name, "many", NIGH_VERBOSE="1", OMP_NUM_THREADS="2")
            self.assertRegex(err, rf"nigh: {name}: 200000 tasks, \d+ run at once, \d+ stolen, \d+ times asleep"
                             r"(, stolen( within \w+: \d+,?)+)?\n")


CPUS = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))]


@unittest.skipIf(len(CPUS) < 2, "needs two cpus")
class Following(shim_test.WithNighd):
    """The threads of a region with tasks go to other cpus while it runs."""
    A, B = CPUS[0], CPUS[-1]

    def each(self):
        for name in ("following-gcc", "following-clang"):
            with self.subTest(name=name):
                yield name

    def test_settings_bind_no_thread(self):
        """Only a region does, with libomp."""
        for word in ("threads=2", "dynamic=0"):
            self.assertEqual(run("dynamic-clang", word, "cpus", OMP_PROC_BIND="true"), (f"{len(CPUS)} cpus\n", ""))

    def test_each_goes_where_the_next_lease_says(self):
        for name in self.each():
            out, err = run(name, "3", shim=SCRIPTED, OMP_NUM_THREADS="2", NIGH_VERBOSE="1",
                           NIGH_TEST_LEASES=f"{self.A},{self.B};{self.A};{self.B}")
            leader, other = (line.split() for line in out.splitlines())
            self.assertEqual(leader[:3], [self.A, self.B, self.A])
            self.assertEqual(other[:3], [self.B, self.A, self.B])
            self.assertRegex(err, r", [0-9]+ times on other cpus\n")

    def test_a_region_without_cpus_gets_some_later(self):
        for name in self.each():
            out, _ = run(name, "2", shim=SCRIPTED, OMP_NUM_THREADS="2", NIGH_TEST_LEASES=f"-;-;{self.B};{self.A}")
            for line in out.splitlines():
                self.assertEqual(line.split()[:3], [",".join(CPUS), self.B, self.A])

    def test_two_programs_share(self):
        """On a busy host they may be anywhere on its cpus."""
        self.start()
        for name in self.each():
            cpus = str(len(CPUS))
            beside = f"LD_PRELOAD={TASKS}:{SHIM} OMP_NUM_THREADS={cpus} {program(name)} 0 'sleep 2'"
            _, err = run(name, "0", beside, OMP_NUM_THREADS=cpus, NIGH_SOCKET=self.socket, NIGH_VERBOSE="1")
            first = err.splitlines()[-2]
            self.assertRegex(first, r", [0-9]+ times on other cpus$")


class Library(unittest.TestCase):
    """The file that is installed."""

    @unittest.skipIf(shutil.which("readelf") is None, "needs readelf")
    def test_brings_only_the_c_library(self):
        table = subprocess.run(["readelf", "-d", TASKS], capture_output=True, text=True, check=True).stdout
        needed = [line.split("[")[1].rstrip("]") for line in table.splitlines() if "NEEDED" in line]
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, r"^(libc|libm|libpthread|libdl|ld-linux.*)\.so")

    @unittest.skipIf(shutil.which("readelf") is None, "needs readelf")
    def test_runs_with_old_c_libraries(self):
        table = subprocess.run(["readelf", "-V", TASKS], capture_output=True, text=True, check=True).stdout
        versions = re.findall(r"Name: GLIBC_([0-9.]+)", table)
        self.assertTrue(versions)
        self.assertLessEqual(max(tuple(map(int, v.split("."))) for v in versions), (2, 28))

    @unittest.skipIf(shutil.which("nm") is None, "needs nm")
    def test_shows_nothing_of_the_cpp_library(self):
        names = subprocess.run(["nm", "-D", "--defined-only", TASKS], capture_output=True, text=True, check=True).stdout
        self.assertTrue(" GOMP_task\n" in names and " __kmpc_omp_task\n" in names, names)
        self.assertNotIn(" _Z", names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[7:], verbosity=2)
