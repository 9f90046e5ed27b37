# SPDX-License-Identifier: Apache-2.0
"""Other programs: run in good places, and tuned."""
from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import tempfile
from typing import Any, Dict, Optional, Sequence, Tuple

from ._installed import ANY_BYTES, NighError, Path, Word, binary, complaint_of, environment, option_words, words
from ._results import rows_of


def run(cmd: Sequence[Word], *, options: Sequence[str] = (), **how: Any) -> "subprocess.CompletedProcess[Any]":
    """Runs a program under ``nigh run``, waits for it, and returns what ``subprocess.run`` returns.

    ``cmd`` is the program and its arguments; ``options`` are those of ``nigh run``, as ``["--threads", "8"]``;
    ``how`` is passed on to ``subprocess.run``: ``check=True``, ``capture_output=True``, ``timeout=60``.
    """
    return subprocess.run([str(binary()), "run", *option_words(options), "--", *words(cmd)], **how)


@dataclasses.dataclass(frozen=True)
class Configuration:
    """Options of ``nigh run``, and how well the program did with them."""

    options: str  #: as one writes them: ``"--threads 2 --bind compact"``; ``"(as it is)"`` for none
    params: Dict[str, Any]  #: the same one by one: ``{"threads": 2, "bind": "compact"}``
    metric: str
    unit: str
    undisturbed: float  #: by which configurations are ranked
    interval: Tuple[float, float]  #: of that, to 95%
    chance: float  #: the probability to be the best of those measured, 0 to 1
    samples: Tuple[float, ...]
    cut_short: bool  #: a run was stopped, because it had lost: its sample is a bound


@dataclasses.dataclass(frozen=True)
class Tuning:
    """The outcome of ``nigh tune``."""

    configurations: Tuple[Configuration, ...]  #: the best first
    profile: Optional[Dict[str, Any]]  #: of this tuning, for ``nigh run --profile``; None for MPI programs
    text: str  #: what the command prints: the ranking, and how sure it is
    is_complete: bool  #: False: it was interrupted, and knows less
    profile_file: Optional[str] = None  #: where ``output`` keeps it: beside a better profile that was there before

    @property
    def best(self) -> Configuration:
        """The configuration that was best, whether reliably or not: ``text`` and ``chance`` say that."""
        return self.configurations[0]


class TuningInterrupted(KeyboardInterrupt):
    """``KeyboardInterrupt`` of ``nigh.tune()``, with what was known by then."""

    def __init__(self, tuning: Optional[Tuning]) -> None:
        super().__init__()
        self.tuning = tuning  #: incomplete; None where nothing had been measured


def _configuration(row: Dict[str, Any]) -> Configuration:
    low, high = row["interval"]
    return Configuration(
        options=row["variant"], params=row["params"], metric=row["metric"], unit=row.get("unit", ""),
        undisturbed=row["undisturbed"], interval=(low, high), chance=min(max(row["chance"], 0.0), 1.0),
        samples=tuple(row["samples"]), cut_short=row.get("cut_short", False))


PATIENCE_S = 0.5


class _Tune:
    """A ``nigh tune`` that has ended."""

    def __init__(self, arguments: Sequence[str], folder: str) -> None:
        self.was_interrupted = False
        # Into files, for an interrupted reader of pipes may lose a part.
        printed = [os.path.join(folder, name) for name in ("stdout", "stderr")]
        with open(printed[0], "wb") as out, open(printed[1], "wb") as errors:
            with subprocess.Popen(arguments, stdout=out, stderr=errors, env=environment()) as process:
                self._wait(process)
                self.status: int = process.returncode  # 0 where an interrupt came as Python read it, and it was lost
        self.stdout, self.stderr = map(_text_of, printed)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        """A first interrupt lets nigh write what it knows; a second one ends it."""
        try:
            process.wait()
            return
        except KeyboardInterrupt:
            self.was_interrupted = True
        try:
            try:
                process.wait(PATIENCE_S)  # a terminal has told nigh, too
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            process.wait()
        except BaseException:
            process.terminate()
            raise


def _text_of(file: str) -> str:
    with open(file, encoding="utf-8", errors=ANY_BYTES) as text:
        return text.read()


def _age(file: str) -> Optional[Tuple[int, int, int]]:
    """Another one when the file has been written."""
    try:
        now = os.stat(file)
    except OSError:
        return None
    return now.st_ino, now.st_mtime_ns, now.st_size


def _beside(file: str) -> str:
    """Where nigh tune writes a profile that is worse than the one that is there."""
    stem, extension = os.path.splitext(file)
    return f"{stem}.new{extension}"


def tune(cmd: Sequence[Word], *, budget: Optional[str] = None, metric: Optional[str] = None, maximize: bool = False,
         output: Optional[Path] = None, options: Sequence[str] = ()) -> Tuning:
    """Finds the best options of ``nigh run`` for a program, by running it again and again under ``nigh tune``.

    ``budget`` is for how long, as ``"90s"`` or ``"10m"``, which is also without it; ``metric`` a regular expression whose
    first group is the number to compare in the program's output, instead of time, and ``maximize`` says that more of it
    is better. ``output`` keeps the profile in a file; ``options`` are further ones of ``nigh tune``, as
    ``["--threads", "2"]``.

    Where ``output`` has a profile that was measured better, nigh keeps that one and writes this tuning's beside it:
    ``Tuning.profile_file`` says where. ``options=["--force"]`` replaces it.

    ``NighError`` where nothing could be measured: the program fails, or there is no ``metric`` in its output. An interrupt
    (^C) ends the run under way, and raises ``nigh.TuningInterrupted``, a ``KeyboardInterrupt`` whose ``tuning`` is what was
    known by then; ``output`` has its profile.
    """
    more = [*option_words(options), "--", *words(cmd)]
    with tempfile.TemporaryDirectory(prefix="nigh-tune-") as folder:
        measured = os.path.join(folder, "measured.jsonl")
        profile = os.path.join(folder, "profile.json") if output is None else os.fspath(output)
        arguments = [str(binary()), "tune", "--json", measured, "-o", profile]
        if budget is not None:
            arguments += ["--budget", budget]
        if metric is not None:
            arguments += ["--metric", metric]
        if maximize:
            arguments.append("--maximize")
        beside = _beside(profile)
        before = {file: _age(file) for file in (profile, beside)}
        done = _Tune([*arguments, *more], folder)
        if output is None and "for a launcher" in done.stderr and not done.was_interrupted:
            done = _Tune([*(word for word in arguments if word not in ("-o", profile)), *more], folder)
        found = tuple(map(_configuration, rows_of(measured))) if os.path.exists(measured) else ()
        tuning = None
        if found:
            written = next((file for file in (profile, beside) if _age(file) not in (None, before[file])), None)
            kept = None if written is None else json.loads(_text_of(written))
            tuning = Tuning(found, kept, done.stdout, done.status == 0 and not done.was_interrupted,
                            None if output is None else written)
        if done.was_interrupted:
            raise TuningInterrupted(tuning)
        if tuning is None:
            raise NighError(complaint_of(done.stderr, done.status))
        return tuning
