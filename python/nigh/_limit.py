# SPDX-License-Identifier: Apache-2.0
"""A lease of this process: cpus of its own from nighd, for as long as a block runs.

The process has one lease, whichever threads have blocks; with several blocks the narrowest holds. A thread of the module
listens for nighd. When nighd asks for the lease, the thread exchanges it for what the process may have now, and moves the
process's threads to it at once. Thread pools change their sizes only in calls of the program's own threads: when a block
begins or ends, and in ``Lease.renew()``, for a pool must not be at work then.
"""
from __future__ import annotations

import contextlib
import importlib
import math
import os
import subprocess
import sys
import threading
from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from ._installed import NighError, binary
from ._library import library, text

SYSTEM_SOCKET = "/run/nigh/nighd.sock"
MOST_CPUS = 1024  # of a lease
NEWS_ASKED, NEWS_GONE = 1, 2  # of nigh_lease_news()
# Between two requests: while others hold the cpus, and while there is no coordinator.
ASK_AGAIN_US, LOOK_AGAIN_US = 100_000, 1_000_000


def _coordinator_socket() -> str:
    said = os.environ.get("NIGH_SOCKET")
    if said:
        return said
    if os.path.exists(SYSTEM_SOCKET):
        return SYSTEM_SOCKET
    ffi, lib = library()
    return os.path.join(text(ffi, lib.nigh_private_directory()), "nighd.sock")


def _is_under_nigh_run() -> bool:
    """``nigh run`` has preloaded the library that gets cpus for each parallel region."""
    preloaded = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    return any(os.path.basename(one) == "nigh-openmp.so" for one in preloaded)


def _threads_of_process() -> List[int]:
    return [int(name) for name in os.listdir("/proc/self/task")]


class _Pools:
    """The thread pools of this process whose sizes threadpoolctl can set, and the sizes that they had."""

    def __init__(self) -> None:
        self._own: List[Tuple[Any, int]] = []
        try:
            threadpoolctl: Any = importlib.import_module("threadpoolctl")
            pools = threadpoolctl.ThreadpoolController().lib_controllers
        except (ImportError, AttributeError):  # or one before 3.0
            return
        for pool in pools:
            if pool.internal_api != "nigh" and pool.num_threads is not None:
                self._own.append((pool, pool.num_threads))

    def set(self, threads: int) -> None:
        for pool, own in self._own:
            pool.set_num_threads(min(threads, own))

    def restore(self) -> None:
        for pool, own in self._own:
            pool.set_num_threads(own)


class _Affinity:
    """The cpus that the threads of this process had before."""

    def __init__(self) -> None:
        self.own: FrozenSet[int] = frozenset(os.sched_getaffinity(0))
        self._before: Dict[int, FrozenSet[int]] = {}
        self._now = self.own
        self._is_set = False

    def set(self, cpus: FrozenSet[int]) -> None:
        """Moves all threads. One that is made meanwhile has the cpus of the thread that makes it: looks again for these."""
        if self._is_set and cpus == self._now:
            return
        # A thread that has these was made in the block, by one that had them.
        inherited = (cpus, self._now) if self._is_set else (cpus,)
        self._is_set = True
        self._now = cpus
        moved: FrozenSet[int] = frozenset()
        while True:
            new = [thread for thread in _threads_of_process() if thread not in moved]
            if not new:
                return
            for thread in new:
                with contextlib.suppress(OSError):  # it has ended
                    if thread not in self._before:
                        before = frozenset(os.sched_getaffinity(thread))
                        self._before[thread] = self.own if before in inherited else before
                    os.sched_setaffinity(thread, cpus)
            moved |= frozenset(new)

    def restore(self) -> None:
        """Each thread has its own cpus again; one that was made meanwhile has those of the process."""
        if not self._is_set:
            return
        self._is_set = False
        for thread in _threads_of_process():
            with contextlib.suppress(OSError):
                now = frozenset(os.sched_getaffinity(thread))
                os.sched_setaffinity(thread, self._before.get(thread, self.own if now == self._now else now))


class _Process:
    """The lease of this process, while at least one block runs."""

    def __init__(self) -> None:
        self.gate = threading.RLock()  # held while a block begins or ends, first
        self.lock = threading.RLock()  # over all that follows
        self.wants: List["limit"] = []
        self.affinity: Optional[_Affinity] = None
        self.pools: Optional[_Pools] = None
        self.link: Any = None  # nigh_lease
        self.listener: Optional[threading.Thread] = None
        self.is_ending = False
        self.asked = 0  # the lease is for so many threads
        self.leased: Tuple[int, ...] = ()
        self.source = "process"
        self.reason = ""
        self.quota = 0.0

    # ---- what holds now; with the lock

    def most(self, one: "limit") -> int:
        assert self.affinity is not None
        own = len(self.affinity.own)
        return own if one.wanted is None else min(one.wanted, own)

    def cpus(self) -> Tuple[int, ...]:
        assert self.affinity is not None
        if self.source != "nighd":
            return tuple(sorted(self.affinity.own))
        return self.leased[:min(map(self.most, self.wants), default=len(self.leased))]

    def threads(self) -> int:
        n = min([len(self.cpus()), *map(self.most, self.wants)])
        if self.source == "process" and self.quota > 0:
            n = min(n, math.ceil(self.quota))
        return max(n, 1)

    def move_threads(self) -> None:
        assert self.affinity is not None
        if self.source == "nighd":
            self.affinity.set(frozenset(self.cpus()))
        else:
            self.affinity.restore()

    def set_pools(self) -> None:
        if self.pools is not None and (self.source != "nigh run" or any(one.wanted for one in self.wants)):
            self.pools.set(self.threads())

    # ---- blocks begin and end

    def enter(self, one: "limit") -> None:
        with self.gate:
            is_first = not self.wants
            if is_first:
                self._begin(one)
            try:
                self._add(one)
                if is_first and self.link is not None:
                    self.listener = threading.Thread(target=self._listen, name="nigh-lease", daemon=True)
                    self.listener.start()
            except BaseException:
                self.wants.remove(one)
                if is_first:
                    self._end()
                raise

    def _add(self, one: "limit") -> None:
        with self.lock:
            self.wants.append(one)
            self._ask_for_most()
            self.move_threads()
            if self.pools is None and one.pools:
                self.pools = _Pools()
            self.set_pools()

    def leave(self, one: "limit") -> None:
        with self.gate:
            with self.lock:
                self.wants.remove(one)
                if self.wants:
                    self._ask_for_most()
                    self.move_threads()
                    self.set_pools()
                    return
            self._end()

    def _begin(self, one: "limit") -> None:
        ffi, lib = library()
        self.affinity = _Affinity()
        self.quota = lib.nigh_cpu_quota()
        self.source, self.reason, self.leased, self.asked, self.is_ending = "process", "", (), 0, False
        if _is_under_nigh_run():
            self.source, self.reason = "nigh run", "nigh run shares this program's cpus, region by region"
        elif os.environ.get("NIGH_COORDINATOR") == "off":
            self.reason = "NIGH_COORDINATOR=off"
        else:
            socket = one.socket or _coordinator_socket()
            if one.start:
                _start_coordinator(socket)
            own = sorted(self.affinity.own)
            name = os.path.basename(sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else sys.executable)
            self.link = lib.nigh_lease_open(os.fsencode(socket), os.fsencode(name), own, len(own))
            if self.link == ffi.NULL:
                self.link = None
                raise NighError("no memory or no descriptor is left for a connection to nighd")

    def _end(self) -> None:
        with self.lock:
            self.is_ending = True
        _, lib = library()
        if self.listener is not None:
            lib.nigh_lease_ring(self.link)
            self.listener.join()
            self.listener = None
        with self.lock:
            if self.pools is not None:
                self.pools.restore()
                self.pools = None
            if self.affinity is not None:
                self.affinity.restore()
            # Last: its cpus are others' from here on.
            if self.link is not None:
                lib.nigh_lease_close(self.link)
                self.link = None
            self.leased = ()

    # ---- nighd

    def _ask_for_most(self) -> None:
        wanted = min(max(map(self.most, self.wants)), MOST_CPUS)
        if self.link is not None and wanted > self.asked:
            self._obtain(wanted)
            library()[1].nigh_lease_ring(self.link)  # the listener may wait at a socket that is gone

    def _obtain(self, wanted: int) -> None:
        assert self.affinity is not None
        ffi, lib = library()
        room = len(self.affinity.own)
        cpus, why = ffi.new("int[]", room), ffi.new("char const**")
        self.asked = wanted
        got = lib.nigh_lease_obtain(self.link, wanted, cpus, room, why)
        self.leased = tuple(cpus[0:got])
        if got > 0:
            self.source, self.reason = "nighd", ""
        else:
            self.source, self.reason = "process", text(ffi, why[0])

    def _listen(self) -> None:
        _, lib = library()
        while True:
            with self.lock:
                if self.is_ending:
                    return
                pause = -1 if self.leased else LOOK_AGAIN_US if self.reason == "no coordinator" else ASK_AGAIN_US
                socket = lib.nigh_lease_socket(self.link)
            lib.nigh_lease_wait(self.link, socket, pause)
            with self.lock:
                if self.is_ending:
                    return
                news = lib.nigh_lease_news(self.link)
                if news == NEWS_GONE:
                    self.leased, self.source, self.reason = (), "process", "the coordinator has ended"
                elif news == NEWS_ASKED or not self.leased:
                    self._obtain(self.asked)
                self.move_threads()

    # ---- fork

    def in_child(self) -> None:
        """The lease and its thread are the parent's. The child stays on the cpus that the parent had then, and its pools,
        which may have no threads now, keep their sizes."""
        self.gate, self.lock = threading.RLock(), threading.RLock()
        self.link = self.listener = self.pools = None
        if self.source == "nighd":
            self.reason = "shares the lease of its parent process"


_process = _Process()
os.register_at_fork(after_in_child=lambda: _process.in_child())


def threads_now() -> int:
    """Of the block, or of the process while there is none."""
    with _process.lock:
        return _process.threads() if _process.wants else len(os.sched_getaffinity(0))


def _start_coordinator(socket: str) -> None:
    done = subprocess.run([str(binary("nighd")), "--socket", socket, "--if-none"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise NighError(f"nighd does not start at {socket}: {done.stderr.strip() or f'status {done.returncode}'}")


class Lease:
    """The cpus of a block of ``nigh.limit()``. The values are those of this moment: nighd may change them."""

    @property
    def cpus(self) -> Tuple[int, ...]:
        """The cpus that the threads of the process may run on, by Linux's numbers."""
        with _process.lock:
            return _process.cpus() if _process.wants else ()

    @property
    def threads(self) -> int:
        """How many threads are of use: the size for pools of one's own."""
        with _process.lock:
            return _process.threads() if _process.wants else 0

    @property
    def source(self) -> str:
        """Where the cpus come from.

        ``"nighd"``: a lease; ``"process"``: no lease, all cpus that the process had before, and no more threads than the
        quota of the cgroup has time for; ``"nigh run"``: the program runs under it, which shares cpus itself.
        """
        with _process.lock:
            return _process.source if _process.wants else "process"

    @property
    def reason(self) -> str:
        """Why there is no lease, as ``"no coordinator"``; empty where there is one."""
        with _process.lock:
            return _process.reason

    def renew(self) -> int:
        """Gives the thread pools as many threads as there are cpus now, and returns that number.

        Call it where none of the pools is at work: between two epochs, or for each request.
        """
        with _process.lock:
            if not _process.wants:
                raise RuntimeError("the block of nigh.limit() has ended")
            _process.set_pools()
            return _process.threads()

    def __repr__(self) -> str:
        why = f", reason={self.reason!r}" if self.reason else ""
        return f"Lease(cpus={self.cpus}, threads={self.threads}, source={self.source!r}{why})"


class limit(contextlib.ContextDecorator):
    """Cpus of its own for this process while a block (or a decorated function) runs, and thread pools of that size.

    >>> with nigh.limit() as lease:
    ...     numpy.linalg.svd(a)        # on lease.cpus, with lease.threads threads

    ``cpus`` is how many at most; without it, as many as nighd can spare. Inside the block, all threads of the process run
    on the lease's cpus, and so do programs that it starts. The pools that threadpoolctl knows (OpenBLAS, MKL, BLIS, OpenMP)
    get as many threads, and never more than they had; ``pools=False``, or no threadpoolctl, leaves their sizes alone. All is
    given back when the block ends, and when the process dies.

    Blocks within blocks, and of several threads, share one lease; the narrowest holds.

    Without a coordinator, none is started: ``Lease.source`` is ``"process"``, nothing is pinned, and threads are as many as
    the process has cpus or its quota has time for. One that starts later is found. ``start=True`` starts the user's own
    where there is none, as ``nigh run`` does; it ends by itself. ``socket`` is where to look for it, instead of
    ``$NIGH_SOCKET``, ``/run/nigh/nighd.sock`` or the user's own folder.
    """

    def __init__(self, cpus: Optional[int] = None, *, start: bool = False, socket: Optional[str] = None,
                 pools: bool = True) -> None:
        if cpus is not None:
            if isinstance(cpus, bool) or not isinstance(cpus, int):
                raise TypeError(f"cpus is a whole number, not {cpus!r}")
            if cpus < 1:
                raise ValueError(f"cpus is at least 1, not {cpus}")
        self.wanted = cpus
        self.start = start
        self.socket = socket
        self.pools = pools
        self._is_inside = False

    def _recreate_cm(self) -> "limit":  # for each call of a decorated function
        return limit(self.wanted, start=self.start, socket=self.socket, pools=self.pools)

    def __enter__(self) -> Lease:
        if self._is_inside:
            raise RuntimeError("this nigh.limit() has a block already: make another")
        _process.enter(self)
        self._is_inside = True
        return Lease()

    def __exit__(self, *_: object) -> None:
        self._is_inside = False
        _process.leave(self)
