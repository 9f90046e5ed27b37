#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""^C while nigh trace writes its trace: trace_signal_test.py BIN_DIR TRACED"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN, TRACED = map(os.path.abspath, sys.argv[1:3])


def fill(pipe):
    """So that the next one who writes to it waits."""
    os.set_blocking(pipe, False)
    try:
        while True:
            os.write(pipe, b"." * 512)
    except BlockingIOError:
        os.set_blocking(pipe, True)


def is_waiting_without_children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as children, \
            open(f"/proc/{process}/stat", encoding="ascii") as stat:
        return not children.read() and stat.read().rsplit(") ", 1)[1].startswith("S")


class Interrupted(unittest.TestCase):
    def test_trace_is_kept_before_nigh_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            reader, writer = os.pipe()
            fill(writer)
            mark = os.path.join(folder, "ran")
            nigh = subprocess.Popen([f"{BIN}/nigh", "trace", "-o", "t.json", "--", "sh", "-c", f"{TRACED} 10 2>/dev/null; touch {mark}"],
                                    cwd=folder, stdout=subprocess.DEVNULL, stderr=writer)
            os.close(writer)
            while not (os.path.exists(mark) and is_waiting_without_children(nigh.pid)):
                time.sleep(0.01)
            nigh.send_signal(signal.SIGINT)
            while os.read(reader, 1 << 16):
                pass
            os.close(reader)
            self.assertEqual(nigh.wait(), -signal.SIGINT)
            self.assertEqual(sorted(os.listdir(folder)), ["ran", "t.json"])


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
