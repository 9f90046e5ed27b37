# SPDX-License-Identifier: Apache-2.0
"""One line on standard error that says what takes long: from the third second on, where that is a terminal."""
import os
import sys
import threading
import time

QUIET = 2.0
BETWEEN = 1.0
ERASE = '\r\033[K'


class Progress:
    def __init__(self, doing, is_over=lambda: False):
        self.doing, self.is_over = doing, is_over
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.show, daemon=True)

    def __enter__(self):
        if os.environ.get('TERM', 'dumb') not in ('', 'dumb') and sys.stderr.isatty():
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Removes the line, once: whatever comes next has the terminal."""
        self.stopped.set()
        if self.thread.ident and self.thread is not threading.current_thread():
            self.thread.join()

    def show(self):
        start = time.monotonic()
        is_shown = False
        wait = QUIET
        while not self.stopped.wait(wait) and not self.is_over():
            sys.stderr.write(f'{ERASE}numa-vm: {self.doing}, {time.monotonic() - start:.0f} s')
            sys.stderr.flush()
            is_shown, wait = True, BETWEEN
        if is_shown:
            sys.stderr.write(ERASE)
            sys.stderr.flush()
