# SPDX-License-Identifier: Apache-2.0
"""One run: starts the launcher, lets time and ranks happen, and knows when all is said."""
import dataclasses
import os
import selectors
import signal
import subprocess
import time

from cluster_hosts import launchers, system
from cluster_hosts.network import ROOT, on_host
from cluster_hosts.ranks import Ranks

START_SECONDS = 3  # a crash in them, without a word, was one of MPI_Init
EXIT_GRACE = 3  # seconds for what belongs to a job to be gone after it


@dataclasses.dataclass
class Launcher:
    pid: int = None
    status: int = None  # as os.waitpid() tells it
    ended: float = None
    hung: bool = False  # there, though its ranks are not


class Job:
    def __init__(self, chosen, network, is_of_hosts):
        """`is_of_hosts` tells of a process's id and name whether it belongs to the hosts, not to the job."""
        self.chosen, self.network, self.is_of_hosts = chosen, network, is_of_hosts
        self.selector = selectors.DefaultSelector()
        self.ranks = Ranks(self.selector, self.heard)
        self.launcher = Launcher()
        self.began = time.monotonic()
        self.all_began = None
        self.faults_since = None  # when their clock began
        self.to_come = sorted(chosen.faults, key=lambda fault: fault.seconds)
        self.done = []  # (fault, when)
        self.left = []  # processes of the job after its end
        self.segments = []  # (host, file in /dev/shm) of its shared memory, then
        self.segments_before = set(network.segments())
        self.timed_out = False

    def heard(self, line):
        if self.chosen.faults_after and self.faults_since is None and self.chosen.faults_after.encode() in line:
            self.faults_since = time.monotonic()

    def start(self):
        reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.selector.register(reading, 1, lambda: os.read(reading, 4096))
        shares = launchers.ranks_of_hosts(self.chosen.hosts, self.chosen.ranks)
        with open(ROOT + '/where', 'w') as file:
            file.writelines(f'{host}\n' * share for host, share in shares.items())
        line = launchers.LINES[self.chosen.launcher](shares, self.chosen.ranks, self.chosen.launcher_options,
                                                     self.chosen.program)
        self.launcher.pid = subprocess.Popen(on_host(1, line), stdin=subprocess.DEVNULL, start_new_session=True).pid

    def run(self):
        self.start()
        while not self.is_over():
            self.hear_more(self.seconds_to_wait())
            self.reap()
            if self.all_began is None and len(self.ranks) >= self.chosen.ranks:
                self.all_began = time.monotonic()
                if not self.chosen.faults_after:
                    self.faults_since = self.all_began
            self.hurt_those_due()
        self.find_left()

    def seconds_to_wait(self):
        now = time.monotonic()
        ends = [self.began + self.chosen.timeout, self.deadline()]
        if self.faults_since is not None and self.to_come:
            ends.append(self.faults_since + self.to_come[0].seconds)
        return max(0, min(end for end in ends if end is not None) - now)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | system.WAIT_FOR_ALL)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.ranks.of_pid:
                self.ranks.told(pid, status)
            elif pid == self.launcher.pid:
                self.launcher.status, self.launcher.ended = status, time.monotonic()

    def hurt_those_due(self):
        while self.faults_since is not None and self.to_come:
            fault = self.to_come[0]
            if time.monotonic() < self.faults_since + fault.seconds:
                return
            self.to_come.pop(0)
            if fault.is_for_rank and not self.ranks.hurt(fault):
                continue  # it ended before
            if not fault.is_for_rank:
                self.network.hurt(fault)
            self.done.append((fault, time.monotonic()))

    def deadline(self):
        """When the job counts as over although something of it is there; None while it does what it should."""
        grace, within = self.chosen.grace, self.chosen.ends_within or 0
        if self.ranks_are_over():
            return max([self.all_began, *self.fault_times(), *(rank.ended or 0 for rank in self.ranks)]) + grace
        if self.launcher.ended is not None:
            return max([self.launcher.ended, *self.fault_times()]) + max(grace, within)
        if within and self.done and not self.to_come:
            return self.fault_times()[-1] + within
        return None

    def ranks_are_over(self):
        return self.all_began is not None and all(rank.is_over or rank.is_stopped for rank in self.ranks)

    def fault_times(self):
        return [when for _, when in self.done]

    def crashed_at_start(self):
        """Open MPI's known crash in MPI_Init where Slurm's PMIx lets some ranks go too soon."""
        return self.chosen.launcher == 'slurm-pmix' and any(
            rank.signal == 'SIGSEGV' and not rank.out.kept and rank.ended < rank.began + START_SECONDS
            for rank in self.ranks)

    def is_over(self):
        if self.crashed_at_start():
            return True
        now = time.monotonic()
        if self.launcher.ended is not None and all(rank.is_over or rank.is_stopped for rank in self.ranks):
            return True
        self.timed_out = now >= self.began + self.chosen.timeout
        deadline = self.deadline()
        if self.timed_out or (deadline is not None and now >= deadline):
            self.launcher.hung = self.launcher.ended is None and self.ranks_are_over()
            return True
        return False

    def find_left(self):
        """What of the job is there still; a moment is given to it, unless its launcher is there itself."""
        until = time.monotonic() + (min(EXIT_GRACE, self.chosen.grace) if self.launcher.ended is not None else 0)
        while True:
            self.reap()
            self.left = [one for one in processes() if not self.is_of_hosts(*one[:2])]
            self.segments = [one for one in self.network.segments() if one not in self.segments_before]
            if not (self.left or self.segments) or time.monotonic() >= until:
                break
            self.hear_more(0.02)
        for _ in range(100):
            if not self.hear_more(0):
                break

    def hear_more(self, seconds):
        ready = self.selector.select(seconds)
        for key, _ in ready:
            key.data()
        return ready


def processes():
    """(id, name, command line) of all but ours, of the dead, and of the kernel's view of them."""
    for entry in os.listdir('/proc'):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f'/proc/{entry}/stat') as file:
                    name, _, rest = file.read().partition('(')[2].rpartition(')')
                with open(f'/proc/{entry}/cmdline') as file:
                    command = file.read().replace('\0', ' ').strip()
            except OSError:
                continue
            if rest.split()[0] not in 'ZX':
                yield int(entry), name, command
