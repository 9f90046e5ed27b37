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
import inspect
import math
import os
import subprocess
import sys
import threading
from typing import Any, Callable, List, Optional, Tuple, TypeVar

from ._affinity import Affinity
from ._installed import NighError, binary
from ._library import library, text

SYSTEM_SOCKET = "/run/nigh/nighd.sock"
MOST_CPUS = 1024  # of a lease
_Function = TypeVar("_Function", bound=Callable[..., Any])
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


class _Listener:
    """The thread that listens for nighd on one connection."""

    def __init__(self) -> None:
        self.is_running = False  # it may use the connection
        self.is_ending = False
        self.thread: Optional[threading.Thread] = None

    def is_this_thread(self) -> bool:
        return self.thread is not None and self.thread.ident == threading.get_ident()


class _Block:
    """A block that runs, and its wishes. It is apart from its ``limit``, so that the collector can find that nobody has that."""

    def __init__(self, wanted: Optional[int], start: bool, socket: Optional[str], pools: bool) -> None:
        self.wanted = wanted
        self.start = start
        self.socket = socket
        self.pools = pools


class _Process:
    """The lease of this process, while at least one block runs.

    A signal's handler may raise at any call, so each step can be repeated: ``leave()`` does again what was interrupted, and
    ``_begin()`` ends what is left over even so. The collector of garbage may end a block in any thread and in the midst
    of this class: ``leave()`` only notes such a block.
    """

    def __init__(self) -> None:
        self.gate: Any = threading.RLock()  # held while a block begins or ends, first
        self.lock: Any = threading.RLock()  # over all that follows
        self.wants: List["_Block"] = []
        self.abandoned: List["_Block"] = []  # to be ended by the next thread that has the gate
        self.affinity: Optional[Affinity] = None
        self.pools: Optional[_Pools] = None
        self.links: List[Any] = []  # nigh_lease: none or one
        self.listener: Optional[_Listener] = None
        self.asked = 0  # the lease is for so many threads
        self.leased: Tuple[int, ...] = ()
        self.source = "process"
        self.reason = ""
        self.quota = 0.0

    # ---- what holds now; with the lock

    def most(self, one: "_Block") -> int:
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

    def enter(self, one: "_Block") -> None:
        with self.gate:
            self._end_abandoned()
            try:
                if not self.wants:
                    self._begin(one)
                self._add(one)
                if self.links and self.listener is None:
                    self._start_listener()
            except BaseException:
                self._leave(one)
                raise

    def _add(self, one: "_Block") -> None:
        with self.lock:
            self.wants.append(one)
            self._ask_for_most()
            self.move_threads()
            if self.pools is None and one.pools:
                self.pools = _Pools()
            self.set_pools()

    def leave(self, one: "_Block") -> None:
        listener = self.listener
        if (listener is not None and listener.is_this_thread()) or self.lock._is_owned() or self.gate._is_owned():
            self.abandoned.append(one)  # this thread is at work here, and has collected garbage
            for link in self.links:
                library()[1].nigh_lease_ring(link)
            return
        with self.gate:
            self._leave(one)
            self._end_abandoned()

    def _end_abandoned(self) -> None:
        while self.abandoned:
            self._leave(self.abandoned[-1])
            self.abandoned.pop()

    def _leave(self, one: "_Block") -> None:
        """May be called again for the same block."""
        with self.lock:
            if one in self.wants:
                self.wants.remove(one)
            if self.wants:
                self._ask_for_most()
                self.move_threads()
                self.set_pools()
                return
        self._end()

    def _begin(self, one: "_Block") -> None:
        self._end()  # what an interrupted one has left
        ffi, lib = library()
        self.affinity = Affinity()
        self.quota = lib.nigh_cpu_quota()
        self.source, self.reason, self.leased, self.asked = "process", "", (), 0
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
            # One call, so that no signal comes between the opening and the note of it.
            self.links.extend(map(lib.nigh_lease_open, [os.fsencode(socket)], [os.fsencode(name)], [own], [len(own)]))
            if self.links[-1] == ffi.NULL:
                self.links.clear()
                raise NighError("no memory or no descriptor is left for a connection to nighd")

    def _end(self) -> None:
        """Does each step, even if one before has failed. A repeated call does what is left."""
        try:
            self._end_listener()
        finally:
            with self.lock:
                try:
                    if self.pools is not None:
                        self.pools.restore()
                        self.pools = None
                finally:
                    try:
                        if self.affinity is not None:
                            self.affinity.restore()
                            self.affinity.close()
                            self.affinity = None
                    finally:
                        self._close()

    def _close(self) -> None:
        """After the rest: the lease's cpus are others' from here on."""
        if self.listener is not None:
            return  # it has not ended, and uses the connection
        links, self.links = self.links, []
        for link in links:
            library()[1].nigh_lease_close(link)
        self.leased = ()

    def _start_listener(self) -> None:
        self.listener = _Listener()
        self.listener.thread = threading.Thread(target=self._listen, args=(self.listener, self.links[0]), name="nigh-lease",
                                                daemon=True)
        self.listener.thread.start()

    def _end_listener(self) -> None:
        with self.lock:
            listener = self.listener
            if listener is None:
                return
            listener.is_ending = True
            waits = listener.is_running and not listener.is_this_thread()
        if waits:
            assert listener.thread is not None
            library()[1].nigh_lease_ring(self.links[0])
            try:
                listener.thread.join()
            except BaseException:  # of a signal: the rest of _end() needs it to have ended
                listener.thread.join()
                self.listener = None
                raise
        self.listener = None

    # ---- nighd

    def _ask_for_most(self) -> None:
        wanted = min(max(map(self.most, self.wants)), MOST_CPUS)
        if self.links and wanted > self.asked:
            self._obtain(wanted)
            library()[1].nigh_lease_ring(self.links[0])  # the listener may wait at a socket that is gone

    def _obtain(self, wanted: int) -> None:
        assert self.affinity is not None
        ffi, lib = library()
        room = len(self.affinity.own)
        cpus, why = ffi.new("int[]", room), ffi.new("char const**")
        self.asked = wanted
        got = lib.nigh_lease_obtain(self.links[0], wanted, cpus, room, why)
        self.leased = tuple(cpus[0:got])
        if got > 0:
            self.source, self.reason = "nighd", ""
        else:
            self.source, self.reason = "process", text(ffi, why[0])

    def _listen(self, listener: _Listener, link: Any) -> None:
        _, lib = library()
        with self.lock:
            if listener.is_ending:
                return  # the block has ended before this thread began
            listener.is_running = True
        while True:
            # Without waiting for it: a thread that has the gate may wait for this one.
            if self.abandoned and self.gate.acquire(blocking=False):
                try:
                    self._end_abandoned()
                finally:
                    self.gate.release()
            with self.lock:
                if listener.is_ending:
                    return
                pause = -1 if self.leased else LOOK_AGAIN_US if self.reason == "no coordinator" else ASK_AGAIN_US
                if self.abandoned:
                    pause = ASK_AGAIN_US
                socket = lib.nigh_lease_socket(link)
            lib.nigh_lease_wait(link, socket, pause)
            with self.lock:
                if listener.is_ending:
                    return
                news = lib.nigh_lease_news(link)
                if news == NEWS_GONE:
                    self.leased, self.source, self.reason = (), "process", "the coordinator has ended"
                elif news == NEWS_ASKED or not self.leased:
                    self._obtain(self.asked)
                with contextlib.suppress(OSError):  # it must live on, to answer nighd
                    self.move_threads()

    # ---- fork

    def in_child(self) -> None:
        """The lease and its thread are the parent's. The child stays on the cpus that the parent had then, and its pools,
        which may have no threads now, keep their sizes."""
        self.gate, self.lock = threading.RLock(), threading.RLock()
        self.listener = self.pools = None
        self.links, self.abandoned = [], []
        if self.affinity is not None:
            self.affinity.in_child()
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

    def __init__(self, of: object = None) -> None:
        self._of = of  # a block lasts until it ends, or nobody has its limit or lease any more

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

    Blocks within blocks, and of several threads, share one lease; the narrowest holds. A generator or an ``async def`` cannot
    be decorated, for it runs after its call: ``TypeError``.

    Without a coordinator, none is started: ``Lease.source`` is ``"process"``, nothing is pinned, and threads are as many as
    the process has cpus or its quota has time for. One that starts later is found. ``start=True`` starts the user's own
    where there is none, as ``nigh run`` does; it ends by itself. ``socket`` is where to look for it, instead of
    ``$NIGH_SOCKET``, ``/run/nigh/nighd.sock`` or the user's own folder.
    """

    _is_inside = False

    def __init__(self, cpus: Optional[int] = None, *, start: bool = False, socket: Optional[str] = None,
                 pools: bool = True) -> None:
        if cpus is not None:
            if isinstance(cpus, bool) or not isinstance(cpus, int):
                raise TypeError(f"cpus is a whole number, not {cpus!r}")
            if cpus < 1:
                raise ValueError(f"cpus is at least 1, not {cpus}")
        self._block = _Block(cpus, start, socket, pools)

    def _recreate_cm(self) -> "limit":  # for each call of a decorated function
        one = self._block
        return limit(one.wanted, start=one.start, socket=one.socket, pools=one.pools)

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or \
                inspect.isasyncgenfunction(function):
            raise TypeError(f"{getattr(function, '__qualname__', function)} would run after its call, without the limit: "
                            "write with nigh.limit() inside it")
        return super().__call__(function)

    def __enter__(self) -> Lease:
        if self._is_inside:
            raise RuntimeError("this nigh.limit() has a block already: make another")
        try:
            _process.enter(self._block)
            self._is_inside = True
            return Lease(self)
        except BaseException:
            self._is_inside = False
            _process.leave(self._block)
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._is_inside = False
            _process.leave(self._block)
        except BaseException:
            _process.leave(self._block)  # once more, where a signal has interrupted it
            raise

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # A signal's handler may raise before the first step of __exit__().
        if self._is_inside and not is_finalizing():
            _process.leave(self._block)
