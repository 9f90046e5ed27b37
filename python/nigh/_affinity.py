# SPDX-License-Identifier: Apache-2.0
"""The cpus on which the threads of this process may run."""
from __future__ import annotations

import contextlib
import os
import threading
from typing import Dict, FrozenSet, Iterable, List, Optional, Tuple


class Threads:
    """The threads of this process. A block may end while no descriptor is free, so the list has its own."""

    def __init__(self) -> None:
        self._folder = -1
        self._spare: Optional[int] = None
        self._folder = os.open("/proc/self/task", os.O_RDONLY | os.O_DIRECTORY)
        self._keep_spare()

    def now(self, known: Iterable[int]) -> List[int]:
        """All of them. Those that are known, and Python's, where another thread takes even the spare descriptor."""
        try:
            return self._listed()
        except OSError:
            self._close_spare()  # os.listdir() opens one more
        try:
            return self._listed()
        except OSError:
            return [*known, *(one.native_id for one in threading.enumerate() if one.native_id is not None)]
        finally:
            self._keep_spare()

    def close(self) -> None:
        self._close_spare()
        folder, self._folder = self._folder, -1
        if folder >= 0:
            os.close(folder)

    def __del__(self) -> None:  # where a signal's exception came before anybody had this
        self.close()

    def _listed(self) -> List[int]:
        return [int(name) for name in os.listdir(self._folder)]

    def _keep_spare(self) -> None:
        with contextlib.suppress(OSError):
            self._spare = os.dup(self._folder)

    def _close_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            os.close(spare)


class Affinity:
    """The cpus that the threads of this process had before."""

    def __init__(self) -> None:
        self.own: FrozenSet[int] = frozenset(os.sched_getaffinity(0))
        self._before: Dict[int, FrozenSet[int]] = {}
        self._now = self.own
        self._is_set = False
        self._threads = Threads()

    def set(self, cpus: FrozenSet[int]) -> None:
        """Moves all threads. One that is made meanwhile has the cpus of the thread that makes it: looks again for these."""
        if self._is_set and cpus == self._now:
            return
        # A thread that has these was made in the block, by one that had them. None of the first that are seen was.
        inherited: Tuple[FrozenSet[int], ...] = (cpus, self._now) if self._is_set else ()
        self._is_set = True
        self._now = cpus
        moved: FrozenSet[int] = frozenset()
        while True:
            new = [thread for thread in self._threads.now(self._before) if thread not in moved]
            if not new:
                return
            for thread in new:
                with contextlib.suppress(OSError):  # it has ended
                    if thread not in self._before:
                        before = frozenset(os.sched_getaffinity(thread))
                        self._before[thread] = self.own if before in inherited else before
                    os.sched_setaffinity(thread, cpus)
            moved |= frozenset(new)
            inherited = inherited or (cpus,)

    def restore(self) -> None:
        """Each thread has its own cpus again; one that was made meanwhile has those of the process."""
        if not self._is_set:
            return
        for thread in self._threads.now(self._before):
            with contextlib.suppress(OSError):
                now = frozenset(os.sched_getaffinity(thread))
                os.sched_setaffinity(thread, self._before.get(thread, self.own if now == self._now else now))
        self._is_set = False  # last: an interrupted call is repeated

    def close(self) -> None:
        self._threads.close()

    def in_child(self) -> None:
        """The descriptors list the parent's threads."""
        self._threads.close()
        self._threads = Threads()
