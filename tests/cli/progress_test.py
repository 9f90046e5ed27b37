#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Progress on a terminal, and what ^C leaves: progress_test.py BIN_DIR PROGRAMS"""
import fcntl
import glob
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAMS = os.path.abspath(sys.argv.pop(2))
BIN = os.path.abspath(sys.argv.pop(1))
NIGH = os.path.join(BIN, "nigh")
LIMIT = 120


def environment(**more):
    return {**os.environ, "TERM": "vt100", "NIGH_COORDINATOR": "off", "NIGH_SOCKET": "/nonexistent/nighd.sock", **more}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name


class Progress(Folder):
    def errors_on_terminal(self, *words, columns=80, **more):
        """(what standard error, a terminal, got; standard output)"""
        outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

        def take_terminal():
            os.setsid()
            fcntl.ioctl(2, termios.TIOCSCTTY, 0)

        process = subprocess.Popen([NIGH, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=inner,
                                   cwd=self.folder, env=environment(**more), preexec_fn=take_terminal)
        os.close(inner)
        seen, end = b"", time.monotonic() + LIMIT
        while time.monotonic() < end:
            if not select.select([outer], [], [], 1)[0]:
                continue
            try:
                some = os.read(outer, 65536)
            except OSError:  # the last of them has closed it
                break
            if not some:
                break
            seen += some
        os.close(outer)
        out = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(LIMIT), 0, seen)
        return seen.decode(), out

    TUNE = ("tune", "--threads", "1", "--schedule", "static", "--repetitions", "2", "--", "sleep", "1.3")

    def test_a_line_appears_after_two_seconds_and_goes(self):
        seen, out = self.errors_on_terminal(*self.TUNE)
        self.assertRegex(seen, r"\r\x1b\[K\[#+\.+\] [1-3] of at most \d+, at most \d+ (s|min) left  (\(as it is\)|--threads 1)")
        self.assertTrue(seen.replace("\r\n", "\n").count("\r\x1b[K") >= 2)
        self.assertNotIn("\x1b", out)
        # The last that was drawn is erased, before a line that is said.
        rest = seen[seen.rindex("\r\x1b[K") + len("\r\x1b[K"):]
        self.assertTrue(rest == "" or rest.startswith("nigh: tune: "), rest)

    def test_it_fits_the_terminal(self):
        seen, _ = self.errors_on_terminal(*self.TUNE, columns=30)
        lines = [part.split("\r")[0] for part in seen.split("\r\x1b[K")[1:] if part.startswith("[")]
        self.assertTrue(lines)
        for line in lines:
            self.assertLess(len(line), 30)

    def test_no_line_where_it_could_not_be_erased(self):
        seen, _ = self.errors_on_terminal(*self.TUNE, TERM="dumb")
        self.assertNotIn("\x1b", seen)
        self.assertNotIn("at most", seen)
        done = subprocess.run([NIGH, *self.TUNE], cwd=self.folder, env=environment(), capture_output=True, text=True,
                              timeout=LIMIT, check=True)
        self.assertNotIn("at most", done.stderr)

    def test_no_colours(self):
        seen, _ = self.errors_on_terminal(*self.TUNE, NO_COLOR="1")
        self.assertNotRegex(seen, r"\x1b\[[0-9;]*m")

    def test_what_is_quick_says_nothing(self):
        seen, _ = self.errors_on_terminal("tune", "--threads", "1", "--repetitions", "1", "--schedule", "static", "--",
                                          "true")
        self.assertNotIn("\x1b", seen)


class Interrupt(Folder):
    def start(self, *words, **more):
        return subprocess.Popen([NIGH, *words], cwd=self.folder, env=environment(**more), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def until(self, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_tune_keeps_what_it_has_and_leaves_no_program(self):
        pids = os.path.join(self.folder, "pids")
        # The first run ends; the second stays, with a child.
        script = "echo $$ >>pids; [ $(wc -l <pids) -lt 2 ] || { sleep 300 & echo $! >>pids; wait; }"
        process = self.start("tune", "--threads", "1", "--schedule", "static", "--", "sh", "-c", script)
        self.until(lambda: lines_in(pids) >= 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted", out)
        self.assertIn("Profile in nigh-profile.json", out)
        with open(pids, encoding="utf-8") as file:
            for pid in file.read().split():
                self.until(lambda pid=pid: not running(pid))

    def test_trace_is_partial(self):
        process = self.start("trace", "--output", "partial.json", "--", os.path.join(PROGRAMS, "traced"), "90")
        self.until(lambda: glob.glob(os.path.join(self.folder, "**", "*.json"), recursive=True) or
                   glob.glob(os.path.join(self.folder, ".*", "*")))
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertIn("nigh: trace: signal 2 ended the program: the trace holds what it did until then", err)
        self.assertRegex(err, r"tasks created +[1-9]")
        self.assertIn("nigh: trace in partial.json", err)
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "partial.json")) > 1000)


def lines_in(path):
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        return file.read().count("\n")


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
