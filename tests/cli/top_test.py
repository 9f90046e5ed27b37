#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh top on terminals of its own: keys, sizes, signals, and a coordinator that comes and goes.

    tests/cli/top_test.py FOLDER_OF_COMMANDS
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAMS = BIN.parent / "tests/openmp/programs"
SUPPRESSED = {"TSAN_OPTIONS": f"suppressions={pathlib.Path(__file__).with_name('ncurses.tsan')} "
                              + os.environ.get("TSAN_OPTIONS", "")}
PATIENCE = 60  # seconds after which a test that waits has failed


class Paper:
    """What a vt100 shows of the bytes it gets."""

    def __init__(self, columns, rows):
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows, self.x, self.y = columns, rows, 0, 0
        self.cells = [[" "] * columns for _ in range(rows)]
        self.top, self.bottom = 0, rows - 1  # of what scrolls
        self.rest = ""

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            escape = re.compile(r"\x1b(\[[?]?([0-9;]*)([@A-Za-z])|[()][A-Z0-9]|[=>78M])").match(text, at)
            if text[at] == "\x1b" and not escape:
                break  # the end is still to come
            if escape:
                if escape.group(3):
                    self.command(escape.group(3), escape.group(2))
                elif escape.group(1) == "M":
                    self.up()
                at = escape.end()
                continue
            self.letter(text[at])
            at += 1
        self.rest = text[at:]

    def letter(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n":
            self.down()
        elif c == "\b":
            self.x = max(0, self.x - 1)
        elif c == "\t":
            self.x = min(self.columns - 1, (self.x // 8 + 1) * 8)
        elif c >= " ":
            self.x = min(self.x, self.columns - 1)
            self.cells[self.y][self.x] = c
            self.x += 1

    def down(self):
        if self.y == self.bottom:
            del self.cells[self.top]
            self.cells.insert(self.bottom, [" "] * self.columns)
        else:
            self.y = min(self.rows - 1, self.y + 1)

    def up(self):
        if self.y == self.top:
            del self.cells[self.bottom]
            self.cells.insert(self.top, [" "] * self.columns)
        else:
            self.y = max(0, self.y - 1)

    def command(self, what, text):
        numbers = [int(n) if n else 0 for n in text.split(";")] if text else []
        first = numbers[0] if numbers else 0
        if what == "H":
            self.y = min(self.rows, max(1, first)) - 1
            self.x = min(self.columns, max(1, numbers[1] if len(numbers) > 1 else 1)) - 1
        elif what == "r":
            self.top = max(1, first) - 1
            self.bottom = (numbers[1] if len(numbers) > 1 and numbers[1] else self.rows) - 1
            self.x, self.y = 0, 0
        elif what in "ABCD":
            n = max(1, first)
            self.y = min(self.rows - 1, max(0, self.y + {"A": -n, "B": n}.get(what, 0)))
            self.x = min(self.columns - 1, max(0, self.x + {"D": -n, "C": n}.get(what, 0)))
        elif what == "K":
            begin, end = {0: (self.x, self.columns), 1: (0, self.x + 1)}.get(first, (0, self.columns))
            self.cells[self.y][begin:end] = [" "] * (end - begin)
        elif what == "J":
            self.cells[self.y][self.x:] = [" "] * (self.columns - self.x)
            for y in range(0 if first == 2 else self.y + 1, self.rows):
                self.cells[y] = [" "] * self.columns

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)


class Seat:
    """nigh top, or what else, at a terminal."""

    def __init__(self, arguments, columns=80, rows=24, **environment):
        self.paper = Paper(columns, rows)
        self.raw = ""
        self.outer, self.inner = pty.openpty()
        self.set_size(columns, rows)
        self.before = termios.tcgetattr(self.inner)
        wanted = {**os.environ, "TERM": "vt100", "LC_ALL": "C", **SUPPRESSED, **environment}
        for gone in [name for name, value in wanted.items() if value is None]:
            del wanted[gone]

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(arguments, stdin=self.inner, stdout=self.inner,
                                        stderr=self.inner, env=wanted, preexec_fn=take_terminal)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.read()
        self.paper.resize(columns, rows)
        self.set_size(columns, rows)

    def read(self):
        while select.select([self.outer], [], [], 0)[0]:
            text = os.read(self.outer, 65536).decode("utf-8", "replace")
            self.raw += text
            self.paper.feed(text)

    def press(self, keys):
        os.write(self.outer, keys.encode())

    def press_until(self, keys, condition):
        """Once more where the parts of a key came so late that they were taken for several."""
        for _ in range(5):
            self.press(keys)
            try:
                return self.until(condition, PATIENCE / 5)
            except AssertionError as error:
                last = error
        raise last

    def until(self, condition, patience=PATIENCE):
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("still:\n" + self.paper.text())
            select.select([self.outer], [], [], 0.05)
            self.read()

    def shows(self, text):
        self.until(lambda: text in self.paper.text())

    def shows_not(self, text):
        self.until(lambda: text not in self.paper.text())

    def ends(self):
        self.until(lambda: self.process.poll() is not None)
        self.read()
        assert termios.tcgetattr(self.inner) == self.before, "the terminal is as it was"
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.outer)
        os.close(self.inner)


class Top(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = folder.name + "/n.sock"

    def serve(self):
        nighd = subprocess.Popen([BIN / "nighd", "--foreground", "--socket", self.socket],
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(nighd.wait)
        self.addCleanup(nighd.kill)
        while subprocess.run([BIN / "nigh", "status"], env={"NIGH_SOCKET": self.socket},
                             capture_output=True).returncode != 0:
            self.assertIsNone(nighd.poll())
        return nighd

    def seat(self, *arguments, **environment):
        seat = Seat([BIN / "nigh", "top", *arguments], NIGH_SOCKET=self.socket, **environment)
        self.addCleanup(seat.close)
        return seat

    def test_q_leaves_and_the_terminal_is_as_it_was(self):
        self.serve()
        for key in ("q", "\x1b[21~"):
            seat = self.seat(TERM="xterm")
            seat.until(lambda: "F10" in seat.raw and "0 programs" in seat.raw)
            seat.press_until(key, lambda: seat.process.poll() is not None)
            self.assertEqual(seat.ends(), 0)
            self.assertIn("\x1b[?1049l", seat.raw, "the screen from before is back")

    def test_keys_change_what_is_shown(self):
        self.serve()
        seat = self.seat()
        seat.shows("package 0")
        seat.shows("PID^ PROGRAM")
        self.assertTrue(seat.paper.text().isascii())
        seat.press(">")
        seat.shows("PROGRAM^")
        seat.press_until("\x1bOu", lambda: "Sort by" in seat.paper.text())  # F6 of a vt100
        seat.press("q")
        seat.shows_not("Sort by")
        seat.press("h")
        seat.shows("there is no key that ends programs")
        seat.press("x")
        seat.shows("package 0")
        seat.press("t")
        seat.shows_not("PROGRAM")
        seat.press("t")
        seat.shows_not("package 0")
        seat.press("/nobody")
        seat.shows("Search: nobody")
        seat.press("\r")
        seat.shows("F3Search")
        seat.press("\\text")
        seat.shows('only "text"')
        seat.press("\x1b")
        seat.shows_not("only")
        seat.press("d2.5\r")
        seat.shows("every 2.5 s")
        seat.press("Z")
        seat.shows("paused")
        seat.press("q")
        self.assertEqual(seat.ends(), 0)

    def test_fills_a_terminal_that_changes_its_size(self):
        self.serve()
        seat = self.seat("-d", "3600")
        seat.shows("every 3600 s")
        seat.until(lambda: seat.paper.text().split("\n")[23].startswith("F1Help"))
        for columns, rows in ((40, 10), (132, 50), (8, 3), (80, 24)):
            seat.resize(columns, rows)
            seat.until(lambda: seat.paper.text().split("\n")[rows - 1].startswith("F1"))
        seat.press("q")
        self.assertEqual(seat.ends(), 0)

    def test_signals_end_it_and_the_terminal_is_as_it_was(self):
        self.serve()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            seat = self.seat()
            seat.shows("F10Quit")
            seat.process.send_signal(number)
            self.assertEqual(seat.ends(), 128 + number)
        seat = self.seat()
        seat.shows("F10Quit")
        seat.press("\x03")
        self.assertEqual(seat.ends(), 128 + signal.SIGINT)

    def test_stops_and_goes_on(self):
        self.serve()
        seat = self.seat()
        seat.shows("F10Quit")
        seat.process.send_signal(signal.SIGTSTP)

        def state():
            return pathlib.Path(f"/proc/{seat.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

        # A group without a shell is an orphan: the kernel may ignore the signal then.
        seat.until(lambda: state() in "TS")
        seat.process.send_signal(signal.SIGCONT)
        seat.read()
        seat.press("t")
        seat.shows_not("PROGRAM")
        seat.press("q")
        self.assertEqual(seat.ends(), 0)

    def test_waits_for_a_coordinator_that_is_not_there(self):
        seat = self.seat("-d", "0.1")
        seat.shows("No such file or directory; waiting")
        nighd = self.serve()
        seat.shows("0 programs")
        nighd.kill()
        nighd.wait()
        seat.shows("Connection refused; waiting")
        self.serve()
        seat.shows("0 programs")
        seat.press("q")
        self.assertEqual(seat.ends(), 0)

    def test_a_coordinator_that_hangs_holds_no_key_up(self):
        nighd = self.serve()
        seat = self.seat("-d", "0.1")
        seat.shows("0 programs")
        nighd.send_signal(signal.SIGSTOP)
        seat.shows("it does not answer; waiting")
        seat.press("q")
        self.assertEqual(seat.ends(), 0)
        nighd.send_signal(signal.SIGCONT)

    def test_has_colours_where_they_are_wanted(self):
        self.serve()
        for environment, wanted in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)):
            seat = self.seat(**{"TERM": "xterm-256color", "NO_COLOR": None, **environment})
            seat.until(lambda: "Quit" in seat.raw)
            seat.press("q")
            self.assertEqual(seat.ends(), 0)
            self.assertEqual(re.search(r"\x1b\[[0-9;]*4[0-7]m", seat.raw) is not None, wanted, environment)

    def test_writes_unicode_where_the_locale_has_it(self):
        self.serve()
        seat = self.seat(LC_ALL="C.UTF-8")
        seat.shows("PID▲")
        seat.press("q")
        self.assertEqual(seat.ends(), 0)

    def test_shows_it_once_where_it_cannot_draw(self):
        self.serve()
        for term, why in (("dumb", "TERM=dumb has no cursor to move"), (None, "TERM is not set"),
                          ("no-such-terminal", "TERM=no-such-terminal is not known here")):
            seat = self.seat(TERM=term)
            self.assertEqual(seat.ends(), 0)
            self.assertIn("nigh: top: " + why + ": showing it once\r\n", seat.raw)
            self.assertIn("0 programs", seat.raw)
            self.assertNotIn("\x1b", seat.raw)
        piped = subprocess.run([BIN / "nigh", "top"], env={**os.environ, "NIGH_SOCKET": self.socket},
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(piped.returncode, 0)
        self.assertEqual(piped.stderr,
                         "nigh: top: standard input and output are no terminal: showing it once\n")
        self.assertIn("0 programs", piped.stdout)

    def test_names_pools_that_get_no_cpus(self):
        """So does nigh status. The program has a thread of a library that is called as scipy's OpenBLAS."""
        library = PROGRAMS / "libscipy_openblas64_-test.so"
        program = PROGRAMS / "pools-gcc"
        if not library.exists() or not program.exists():
            self.skipTest("the programs were not built")
        self.serve()
        calls = ",scipy_openblas_set_num_threads64_,scipy_openblas_get_num_threads64_"
        words = [program, f"load={library}{calls}", "work", "region", "line"]
        holder = subprocess.Popen([BIN / "nigh", "run", "--", *words], stdin=subprocess.PIPE,
                                  env={**os.environ, "NIGH_SOCKET": self.socket, "POOL_THREADS": "3", "OMP_NUM_THREADS": "2"})
        self.addCleanup(holder.communicate)
        seat = self.seat(columns=160)
        seat.shows("1 program ")
        seat.press_until("\x1bOB", lambda: "on no granted cpus: OpenBLAS" in seat.paper.text())  # down
        said = subprocess.run([BIN / "nigh", "status"], env={**os.environ, "NIGH_SOCKET": self.socket},
                              capture_output=True, text=True, check=True).stdout
        self.assertIn(f"pools-gcc ({holder.pid}) has threads on no granted cpus: OpenBLAS\n", said)
        seat.press("q")
        self.assertEqual(seat.ends(), 0)


if __name__ == "__main__":
    unittest.main()
