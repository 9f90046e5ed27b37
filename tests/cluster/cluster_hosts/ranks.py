# SPDX-License-Identifier: Apache-2.0
"""The ranks: who they are, what they said, how they ended."""
import dataclasses
import os
import signal
import sys
import time

from cluster_hosts import watch
from cluster_hosts.network import ROOT

FOLDER = ROOT + '/ranks'
KEPT_BYTES = 1 << 20  # of what a rank writes, for the report; passed on is all


class Stream:
    """Passes on whole lines, so that those of several ranks do not mix, and keeps them."""

    def __init__(self, fd, to, on_line):
        self.fd, self.to, self.on_line = fd, to, on_line
        self.kept, self.rest = b'', b''

    def read(self):
        """False at the end."""
        try:
            got = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        *lines, self.rest = (self.rest + got).split(b'\n')
        lines = [line + b'\n' for line in lines]
        if not got and self.rest:
            lines, self.rest = [self.rest], b''
        for line in lines:
            if len(self.kept) < KEPT_BYTES:
                self.kept += line
            self.to.buffer.write(line)
            self.on_line(line)
        self.to.flush()
        return bool(got)


@dataclasses.dataclass
class Rank:
    number: int
    host: str
    pid: int
    began: float
    out: Stream
    err: Stream
    ended: float = None
    status: int = None  # as os.waitpid() tells it
    is_stopped: bool = False  # by a fault
    must_exit: bool = False  # by a fault, once it stops

    @property
    def is_over(self):
        return self.ended is not None

    @property
    def signal(self):
        """That killed it, if one did."""
        is_killed = self.is_over and os.WIFSIGNALED(self.status)
        return signal.Signals(os.WTERMSIG(self.status)).name if is_killed else None


class Ranks:
    """Those that said they are there. `selector` gets their streams; `on_line` all lines."""

    def __init__(self, selector, on_line):
        self.selector, self.on_line = selector, on_line
        self.of_pid = {}
        os.mkfifo(FOLDER + '/new')
        # Open for writing, too: it does not end when the first rank has written.
        self.fd = os.open(FOLDER + '/new', os.O_RDWR | os.O_NONBLOCK)
        self.rest = b''
        selector.register(self.fd, 1, self.welcome)

    def __iter__(self):
        return iter(sorted(self.of_pid.values(), key=lambda rank: rank.number))

    def __len__(self):
        return len(self.of_pid)

    def find(self, number):
        return next((rank for rank in self if rank.number == number and not rank.is_over), None)

    def welcome(self):
        *lines, self.rest = (self.rest + os.read(self.fd, 4096)).split(b'\n')
        for line in lines:
            pid, number, host = line.decode().split()
            pid = int(pid)
            watch.seize(pid)
            self.of_pid[pid] = Rank(int(number) if number.isdigit() else -1, host, pid, time.monotonic(),
                                    self.listen(pid, 'out', sys.stdout), self.listen(pid, 'err', sys.stderr))
            with open(f'{FOLDER}/{pid}.go', 'w') as go:
                go.write('\n')

    def listen(self, pid, name, to):
        stream = Stream(os.open(f'{FOLDER}/{pid}.{name}', os.O_RDONLY | os.O_NONBLOCK), to, self.on_line)
        self.selector.register(stream.fd, 1, lambda: self.hear(stream))
        return stream

    def hear(self, stream):
        if not stream.read():
            self.selector.unregister(stream.fd)
            os.close(stream.fd)

    def told(self, pid, status):
        """What os.waitpid() said of one of them."""
        rank = self.of_pid[pid]
        if not os.WIFSTOPPED(status):
            rank.status, rank.ended = status, time.monotonic()
        elif rank.must_exit:
            rank.must_exit = False
            watch.call_exit(pid)
        else:
            watch.went_on(pid, status)

    def hurt(self, fault):
        rank = self.find(fault.target)
        if rank is None:
            return False
        if fault.kind == 'exit':
            rank.must_exit = True
            watch.interrupt(rank.pid)
        else:
            number = {'kill': signal.SIGKILL, 'stop': signal.SIGSTOP, 'continue': signal.SIGCONT}[fault.kind]
            rank.is_stopped = number == signal.SIGSTOP
            os.kill(rank.pid, number)
        return True
