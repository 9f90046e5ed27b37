#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nighd when nobody reads what it says: nighd_log_test.py NIGH NIGHD [unittest arguments]."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

NIGH, NIGHD = map(os.path.abspath, sys.argv[1:3])
QUIET = {name: value for name, value in os.environ.items() if not name.startswith("NIGH_")}
SOON = 30  # seconds; without, it would be never


class NobodyReads(unittest.TestCase):
    """Its standard error is a pipe that was full before it came."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, "nighd.sock")
        self.reader, writer = os.pipe()
        self.addCleanup(os.close, self.reader)
        os.set_blocking(writer, False)
        self.filled = 0
        for size in (4096, 1):
            try:
                while True:
                    self.filled += os.write(writer, b"x" * size)
            except BlockingIOError:
                pass
        os.set_blocking(writer, True)
        self.daemon = subprocess.Popen([NIGHD, "--foreground", "--socket", self.socket, "--profiles", "none"],
                                       env=QUIET, stderr=writer, stdin=subprocess.DEVNULL)
        os.close(writer)
        self.addCleanup(self.daemon.wait)
        self.addCleanup(self.daemon.kill)

    def status(self):
        return subprocess.run([NIGH, "status"], env=dict(QUIET, NIGH_SOCKET=self.socket), text=True,
                              capture_output=True, timeout=SOON, check=False)

    def wait_until_it_serves(self):
        until = time.monotonic() + SOON
        while (answer := self.status()).returncode != 0:
            self.assertLess(time.monotonic(), until, answer.stderr)
            time.sleep(0.01)

    def say_garbage(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(self.socket)
            client.send(b"\xa5" * 333)
            client.settimeout(SOON)
            client.recv(100)

    def test_programs_are_answered_and_it_ends(self):
        self.wait_until_it_serves()
        self.say_garbage()
        self.assertEqual(self.status().returncode, 0)
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(self.daemon.wait(timeout=SOON), 0)
        self.assertFalse(os.path.exists(self.socket))

    def test_who_reads_late_has_all_lines(self):
        self.wait_until_it_serves()
        self.say_garbage()
        self.assertEqual(self.status().returncode, 0)
        while self.filled > 0:
            self.filled -= len(os.read(self.reader, self.filled))
        self.daemon.send_signal(signal.SIGTERM)
        said = b""
        while piece := os.read(self.reader, 4096):
            said += piece
        events = [line.split(b'event="')[1].split(b'"')[0] for line in said.splitlines()]
        self.assertEqual(events, [b"serving", b"sends what is no message of nigh's", b"leaving"])
        self.assertEqual(self.daemon.wait(timeout=SOON), 0)


class NoSocket(unittest.TestCase):
    def test_a_file_of_that_name_gets_no_lock(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "passwd")
            with open(name, "w", encoding="utf-8") as file:
                file.write("root\n")
            ran = subprocess.run([NIGHD, "--socket", name, "--profiles", "none"], env=QUIET, text=True,
                                 capture_output=True, timeout=SOON, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (2, f"nighd: {name}: something is there that is no socket\n"))
            self.assertEqual(os.listdir(folder), ["passwd"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
