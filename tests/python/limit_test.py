#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh.limit() beside a nighd of its own: limit_test.py BUILD [unittest arguments]."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import here

OWN = os.sched_getaffinity(0)
# Each program reads statements, one a line as JSON, runs them, and says "done", so that a test leads it.
LED = """
import ctypes, json, os, sys, threading, time
import nigh
def masks():
    return {frozenset(os.sched_getaffinity(int(one))) for one in os.listdir("/proc/self/task")}
def say(*what):
    print(*what, flush=True)
for line in sys.stdin:
    try:
        exec(json.loads(line))
    except Exception as failed:
        print(type(failed).__name__, failed)
    say("done")
"""

NO_DESCRIPTORS = """
import resource
taken = []
def use_up():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    try:
        while True: taken.append(os.open("/dev/null", 0))
    except OSError: pass
def give_back():
    while taken: os.close(taken.pop())
"""
# An exception where Python looks for signals, at each call and return, while a block begins and ends, one after another, as of a signal's handler. The first
# of __exit__() and the last of __enter__() are the with statement's own gap.
INTERRUPTED = """
class Interrupt(BaseException): pass
def interrupt(at):
    left = at
    def look(frame, event, _):  # Python's own threads do not bear it everywhere
        nonlocal left
        if event == "c_call" or "nigh" not in frame.f_code.co_filename: return
        if (frame.f_code.co_name, event) in (("__exit__", "call"), ("__enter__", "return")): return
        left -= 1
        if left == 0: raise Interrupt
    block = nigh.limit(1, pools=False)
    try:
        sys.setprofile(look)
        with block: pass
    except Interrupt: return True
    finally: sys.setprofile(None)
    return left <= 0
with nigh.limit(1): pass  # loads what it needs
at, process, own = 1, nigh._limit._process, os.sched_getaffinity(0)
while interrupt(at):
    if process.wants or process.links or os.sched_getaffinity(0) != own:
        say("left after", at, vars(process), os.sched_getaffinity(0))
        break
    at += 1
say(at, "places")
"""

class Program:
    """A process with the module, which runs statements."""

    def __init__(self, test, before=(), **variables):
        self.process = subprocess.Popen([*before, sys.executable, "-B", "-c", LED], text=True, stdin=subprocess.PIPE, bufsize=1,
                                        stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=here.MODULE, **variables))
        test.addCleanup(self.end)

    def end(self):
        self.process.kill()
        self.process.communicate()

    def tell(self, statements):
        """Runs them there; what they printed."""
        self.process.stdin.write(json.dumps(statements) + "\n")
        out = []
        while (said := self.process.stdout.readline().rstrip("\n")) != "done":
            if not said and self.process.poll() is not None:
                raise AssertionError(f"the program has ended after {statements!r}")
            out.append(said)
        return "\n".join(out)

    def ask(self, value):
        return eval(self.tell(f"say(repr(({value})))"))  # of our own program


class Limit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = os.path.join(folder.name, "nighd.sock")
        self.here = {"NIGH_SOCKET": self.socket, "XDG_RUNTIME_DIR": folder.name}

    def start_nighd(self):
        self.daemon = subprocess.Popen([os.path.join(here.BIN, "nighd"), "--foreground", "--socket", self.socket, "--profiles",
                                        "none"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(self.daemon.wait)
        self.addCleanup(self.daemon.kill)
        self.until(lambda: os.path.exists(self.socket))

    def until(self, condition):
        end = time.monotonic() + here.SOON
        while not condition():
            self.assertLess(time.monotonic(), end, "this does not come true")
            time.sleep(0.02)

    def program(self, **variables):
        return Program(self, **dict(self.here, **variables))

    def status(self):
        """Of the programs that nighd serves: cpus that each holds, by process."""
        said = subprocess.run([os.path.join(here.BIN, "nigh"), "status", "--json"], env=dict(os.environ, **self.here), text=True,
                              capture_output=True, timeout=here.SOON, check=True).stdout
        return {one["pid"]: one["cpus"] for one in json.loads(said)["programs"]}


class OneProgram(Limit):
    def setUp(self):
        super().setUp()
        self.start_nighd()

    def test_the_lease_is_there_inside_and_gone_after(self):
        program = self.program()
        program.tell("threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()")
        program.tell("block = nigh.limit(1); lease = block.__enter__()")
        self.assertEqual(program.ask("lease.source, lease.reason, lease.threads"), ("nighd", "", 1))
        (cpu,) = program.ask("lease.cpus")
        self.assertIn(cpu, OWN)
        self.assertEqual(program.ask("masks()"), {frozenset({cpu})})
        program.tell("threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()")
        self.assertEqual(program.ask("masks()"), {frozenset({cpu})})
        child = "import os; print(*os.sched_getaffinity(0))"
        self.assertEqual(program.ask(f"__import__('subprocess').check_output([sys.executable, '-c', {child!r}])"), b"%d\n" % cpu)
        self.assertEqual(self.status(), {program.process.pid: 1})
        program.tell("block.__exit__(None, None, None)")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})
        self.assertEqual(program.ask("lease.cpus, lease.threads, lease.source"), ((), 0, "process"))
        self.assertEqual(program.tell("lease.renew()"), "RuntimeError the block of nigh.limit() has ended")

    def test_a_thread_with_cpus_of_its_own_has_them_after(self):
        program = self.program()
        own = {frozenset({cpu}) for cpu in OWN}  # the lease of one of them, too
        program.tell("def stay(cpu): os.sched_setaffinity(0, {cpu}); time.sleep(1000)")
        program.tell(f"for cpu in {OWN}: threading.Thread(target=stay, args=(cpu,), daemon=True).start()")
        self.until(lambda: own <= program.ask("masks()"))
        for threads in ("", "1"):
            program.tell(f"with nigh.limit({threads}): inside = masks()")
            self.assertEqual(len(program.ask("inside")), 1)
            self.assertEqual(program.ask("masks()"), own | {frozenset(OWN)})

    def test_a_killed_program_gives_it_back(self):
        program = self.program()
        program.tell("block = nigh.limit(); lease = block.__enter__()")
        self.assertEqual(self.status(), {program.process.pid: len(OWN)})
        program.process.send_signal(signal.SIGKILL)
        self.until(lambda: self.status() == {})

    def test_an_exception_ends_it_and_a_function_may_have_it(self):
        program = self.program()
        program.tell("@nigh.limit(1)\ndef f(): return masks()")
        for _ in range(2):
            self.assertEqual({len(mask) for mask in program.ask("f()")}, {1})
        self.assertIn("ZeroDivisionError", program.tell("with nigh.limit(1): 1 / 0"))
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})

    @unittest.skipUnless(len(OWN) > 1, "one cpu cannot be less")
    def test_blocks_within_blocks(self):
        program = self.program()
        program.tell("a, b = nigh.limit(), nigh.limit(1); lease = a.__enter__()")
        self.assertEqual(program.ask("lease.threads"), len(OWN))
        program.tell("inner = b.__enter__()")
        self.assertEqual(program.ask("inner.threads, len(inner.cpus)"), (1, 1))
        self.assertEqual({len(mask) for mask in program.ask("masks()")}, {1})
        self.assertEqual(self.status(), {program.process.pid: len(OWN)})
        program.tell("b.__exit__(None, None, None)")
        self.assertEqual(program.ask("lease.threads"), len(OWN))
        self.assertEqual({len(mask) for mask in program.ask("masks()")}, {len(OWN)})
        program.tell("a.__exit__(None, None, None)")
        self.until(lambda: self.status() == {})

    @unittest.skipUnless(len(OWN) > 1, "one cpu cannot be less")
    def test_blocks_of_threads_overlap(self):
        program = self.program()
        program.tell("a, b, c = nigh.limit(1), nigh.limit(2), nigh.limit()")
        program.tell("def other(): global go, went; b.__enter__(); went.set(); go.wait(); b.__exit__(None, None, None)")
        program.tell("go, went = threading.Event(), threading.Event(); lease = a.__enter__()")
        program.tell("thread = threading.Thread(target=other); thread.start(); went.wait()")
        self.assertEqual(program.ask("lease.threads"), 1)  # the narrowest
        program.tell("a.__exit__(None, None, None)")
        self.assertEqual(program.ask("lease.threads, len(lease.cpus)"), (2, 2))
        program.tell("go.set(); thread.join()")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})

    @unittest.skipUnless(len(OWN) > 1, "one cpu cannot be less")
    def test_a_thread_made_in_a_block_has_all_cpus_after_it(self):
        program = self.program()
        program.tell("a = nigh.limit(1); lease = a.__enter__(); go = threading.Event()")
        program.tell("thread = threading.Thread(target=go.wait); thread.start()")  # of one cpu, unseen by the block
        program.tell("b = nigh.limit(); b.__enter__(); a.__exit__(None, None, None)")
        self.assertEqual(program.ask("lease.threads"), len(OWN))
        program.tell("b.__exit__(None, None, None)")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        program.tell("go.set(); thread.join()")

    def test_many_threads_at_once(self):
        program = self.program()
        program.tell("def many():\n  for i in range(25):\n    with nigh.limit(1 + i % 2) as lease: assert 1 <= lease.threads <= 2")
        program.tell("threads = [threading.Thread(target=many) for _ in range(4)]; [one.start() for one in threads]")
        program.tell("[one.join() for one in threads]")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})

    def test_a_block_ends_without_a_free_descriptor(self):
        program = self.program()
        program.tell(NO_DESCRIPTORS)
        program.tell("block = nigh.limit(1); lease = block.__enter__(); use_up()")
        self.assertEqual(program.tell("block.__exit__(None, None, None)"), "")
        program.tell("give_back()")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})

    def test_a_signal_that_raises_leaves_nothing(self):
        program = self.program()
        said = program.tell(INTERRUPTED)
        self.assertRegex(said, r"^(\d{3,}) places$")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})

    def test_an_exception_before_the_first_step_of_its_end_leaves_no_block(self):
        program = self.program()
        program.tell("def see(frame, event, argument):\n  if event == 'call' and frame.f_code.co_name == '__exit__':\n"
                     "    sys.setprofile(None); raise KeyboardInterrupt")
        program.tell("try:\n  with nigh.limit(1) as lease: sys.setprofile(see)\nexcept KeyboardInterrupt: came = True")
        self.assertTrue(program.ask("came"))
        program.tell("with nigh.limit() as lease: pass")
        program.tell("del lease; __import__('gc').collect()")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.until(lambda: self.status() == {})

    def test_a_nested_block_that_fails_to_begin_narrows_nothing(self):
        program = self.program()
        program.tell("block = nigh.limit(); lease = block.__enter__(); pools = nigh._limit._Pools")
        program.tell("def fails(): raise ZeroDivisionError\nnigh._limit._process.pools = None; nigh._limit._Pools = fails")
        self.assertIn("ZeroDivisionError", program.tell("nigh.limit(1).__enter__()"))
        program.tell("nigh._limit._Pools = pools")
        self.assertEqual(program.ask("lease.threads"), len(OWN))
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})

    def test_the_collector_ends_a_block_in_the_listening_thread(self):
        program = self.program()
        # nighd's thread ends it where it holds the lock, and where it does not.
        for place in ("_obtain", "move_threads"):
            program.tell("block = nigh.limit(1, socket='/nobody/is/here'); lease = block.__enter__(); ended = threading.Event()")
            program.tell("process = nigh._limit._process; was = process." + place)
            program.tell("def end(*all):\n  if threading.current_thread().name == 'nigh-lease' and not ended.is_set():\n"
                         "    block.__exit__(None, None, None); ended.set()\n  return was(*all)\nprocess." + place + " = end")
            self.assertTrue(program.ask("ended.wait(20)"))
            self.until(lambda: program.ask("lease.cpus") == ())
            self.until(lambda: program.ask("[one.name for one in threading.enumerate()]") == ["MainThread"])
            program.tell("del process." + place)
        program.tell("with nigh.limit(1) as lease: source = lease.source")
        self.assertEqual(program.ask("source"), "nighd")

    def test_wrong_input(self):
        program = self.program()
        for said, complaint in (("0", "ValueError cpus is at least 1, not 0"), ("-3", "ValueError cpus is at least 1, not -3"),
                                ("'2'", "TypeError cpus is a whole number, not '2'"),
                                ("1.5", "TypeError cpus is a whole number, not 1.5"),
                                ("True", "TypeError cpus is a whole number, not True")):
            self.assertEqual(program.tell(f"nigh.limit({said})"), complaint)
        for function in ("def f(): yield", "async def f(): pass", "async def f(): yield"):
            self.assertIn("TypeError f would run after its call", program.tell("@nigh.limit(1)\n" + function))
        program.tell("block = nigh.limit(); lease = block.__enter__()")
        self.assertIn("RuntimeError this nigh.limit() has a block already", program.tell("block.__enter__()"))
        program.tell("block.__exit__(None, None, None); more = nigh.limit(99999).__enter__()")
        self.assertEqual(program.ask("more.threads"), len(OWN))

    def test_fork_inside(self):
        # The child stays on the cpus, has no lease of its own, and ends its block without harm to the parent's.
        child = ("say = lambda *what: os.write(w, (repr(what) + chr(10)).encode()); say(lease.source, lease.cpus, lease.reason);"
                 "block.__exit__(None, None, None); say(len(masks())); os.read(hold, 1); os._exit(0)")
        program = self.program()
        program.tell("block = nigh.limit(1); lease = block.__enter__(); r, w = os.pipe(); hold, go = os.pipe()")
        program.tell(f"child = os.fork(); child == 0 and exec({child!r})")
        source, cpus, reason = eval(program.tell("say(os.read(r, 1000).decode().splitlines()[0])"))
        self.assertEqual((source, reason), ("nighd", "shares the lease of its parent process"))
        self.assertEqual(cpus, program.ask("lease.cpus"))
        self.assertEqual(self.status().get(program.process.pid), 1)
        # The parent dies, and the child lives on: the lease is not held by it.
        pid = program.process.pid
        child = program.ask("child")
        program.process.kill()
        program.process.wait()
        self.until(lambda: pid not in self.status())
        self.assertTrue(os.path.exists(f"/proc/{child}"))
        os.kill(child, signal.SIGKILL)

    def test_nighd_ends_and_comes_back(self):
        program = self.program()
        program.tell("block = nigh.limit(1); lease = block.__enter__()")
        self.daemon.kill()
        self.daemon.wait()
        self.until(lambda: program.ask("lease.source") == "process")
        self.assertIn("coordinator", program.ask("lease.reason"))
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.assertEqual(program.ask("lease.threads"), 1)
        self.start_nighd()
        self.until(lambda: program.ask("lease.source") == "nighd")
        self.assertEqual({len(mask) for mask in program.ask("masks()")}, {1})

    def test_under_nigh_run(self):
        program = Program(self, before=[os.path.join(here.BIN, "nigh"), "run", "--"], **self.here)
        program.tell("block = nigh.limit(); lease = block.__enter__()")
        self.assertEqual(program.ask("lease.source"), "nigh run")
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})

    def test_pools(self):
        program = self.program()
        found = "[p['num_threads'] for p in threadpoolctl.threadpool_info() if p['user_api'] == 'openmp']"
        program.tell("import threadpoolctl; openmp = ctypes.CDLL('libgomp.so.1'); openmp.omp_set_num_threads(2)")
        self.assertEqual(program.ask(found), [2])
        program.tell("with nigh.limit(1) as lease: inside = " + found)
        self.assertEqual((program.ask("inside"), program.ask(found)), ([1], [2]))
        program.tell("with nigh.limit(1, pools=False): inside = " + found)
        self.assertEqual((program.ask("inside"), program.ask(found)), ([2], [2]))
        # Never more than the program has set.
        program.tell("openmp.omp_set_num_threads(1)")
        program.tell("with nigh.limit() as lease: inside = " + found + "; lease.renew(); then = " + found)
        self.assertEqual(program.ask("inside, then"), ([1], [1]))
        if program.ask("hasattr(threadpoolctl, 'register')"):
            shown = "[p['num_threads'] for p in threadpoolctl.threadpool_info() if p['user_api'] == 'nigh']"
            program.tell("with nigh.limit(1): inside = " + shown)
            self.assertEqual((program.ask("inside"), program.ask(shown)), ([1], [len(OWN)]))


class TwoPrograms(Limit):
    @unittest.skipUnless(len(OWN) > 1, "one cpu cannot be shared")
    def test_they_share(self):
        self.start_nighd()
        first, second = self.program(), self.program()
        first.tell("import threadpoolctl; openmp = ctypes.CDLL('libgomp.so.1'); openmp.omp_set_num_threads(99)")
        first.tell("block = nigh.limit(); lease = block.__enter__()")
        self.assertEqual(first.ask("lease.threads, openmp.omp_get_max_threads()"), (len(OWN), len(OWN)))
        second.tell("block = nigh.limit(); lease = block.__enter__()")
        self.until(lambda: second.ask("lease.source") == "nighd")
        ours, theirs = first.ask("lease.cpus"), second.ask("lease.cpus")
        self.assertEqual(set(ours) & set(theirs), set())
        self.assertEqual(len(ours), len(OWN) // 2)
        self.assertEqual(first.ask("masks()"), {frozenset(ours)})
        self.assertEqual(second.ask("masks()"), {frozenset(theirs)})
        # Its pools follow when it says that none is at work.
        self.assertEqual(first.ask("openmp.omp_get_max_threads()"), len(OWN))
        self.assertEqual(first.ask("lease.renew(), openmp.omp_get_max_threads()"), (len(ours), len(ours)))
        second.tell("block.__exit__(None, None, None)")
        self.until(lambda: first.ask("lease.threads") == len(OWN))
        self.assertEqual(first.ask("masks()"), {frozenset(OWN)})
        self.assertEqual(first.ask("lease.renew(), openmp.omp_get_max_threads()"), (len(OWN), len(OWN)))


    @unittest.skipUnless(len(OWN) > 1, "one cpu cannot be shared")
    def test_one_without_a_free_descriptor_answers_nighd(self):
        self.start_nighd()
        first, second = self.program(), self.program()
        first.tell(NO_DESCRIPTORS)
        first.tell("block = nigh.limit(); lease = block.__enter__(); use_up()")
        second.tell("block = nigh.limit(); lease = block.__enter__()")
        self.until(lambda: second.ask("lease.source") == "nighd")
        first.tell("give_back()")
        self.assertEqual(first.ask("masks()"), {frozenset(first.ask("lease.cpus"))})
        self.assertEqual(first.ask("lease.threads"), len(OWN) // 2)

    def test_blocks_within_blocks_while_nighd_asks(self):
        self.start_nighd()
        a, b = self.program(), self.program()
        for program in (a, b):
            program.tell("def nest():\n  for _ in range(100):\n    with nigh.limit(1) as lease, nigh.limit(2), nigh.limit():\n"
                         "      assert lease.source == 'nighd' and lease.threads == 1, (lease.source, lease.threads)\n"
                         "      time.sleep(0.001)")
        a.tell("t = threading.Thread(target=nest); t.start()")
        self.assertEqual(b.tell("nest()"), "")
        self.assertEqual(a.tell("t.join()"), "")


class NoCoordinator(Limit):
    def test_none_is_started_and_one_that_comes_is_found(self):
        program = self.program()
        program.tell("block = nigh.limit(1); lease = block.__enter__()")
        self.assertEqual(program.ask("lease.source, lease.reason, lease.threads"), ("process", "no coordinator", 1))
        self.assertEqual(set(program.ask("lease.cpus")), OWN)
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        self.assertEqual(os.listdir(self.folder), [])
        self.start_nighd()
        self.until(lambda: program.ask("lease.source") == "nighd")
        self.assertEqual({len(mask) for mask in program.ask("masks()")}, {1})

    def test_it_is_not_wanted(self):
        self.start_nighd()
        program = self.program(NIGH_COORDINATOR="off")
        program.tell("block = nigh.limit(); lease = block.__enter__()")
        self.assertEqual(program.ask("lease.source, lease.reason"), ("process", "NIGH_COORDINATOR=off"))
        self.assertEqual(self.status(), {})

    def test_it_is_started(self):
        program = self.program()
        program.tell("block = nigh.limit(1, start=True); lease = block.__enter__()")
        self.addCleanup(self.end_started)
        self.assertEqual(program.ask("lease.source"), "nighd")
        self.assertEqual(self.status(), {program.process.pid: 1})

    def test_it_does_not_start(self):
        program = self.program()
        said = program.tell("nigh.limit(start=True, socket='/no/such/folder/nighd.sock').__enter__()")
        self.assertIn("NighError nighd does not start at /no/such/folder/nighd.sock: ", said)
        self.assertEqual(program.ask("masks()"), {frozenset(OWN)})
        program.tell("with nigh.limit() as lease: source = lease.source")
        self.assertEqual(program.ask("source"), "process")

    def end_started(self):
        """The nighd with our socket."""
        for words in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self.socket.encode() in words.read_bytes().split(b"\0") and b"nighd" in words.read_bytes():
                    os.kill(int(words.parent.name), signal.SIGTERM)
            except OSError:
                pass  # it has ended


here.main("cffi", "threadpoolctl")
