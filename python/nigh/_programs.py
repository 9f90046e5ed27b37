# SPDX-License-Identifier: Apache-2.0
"""Other programs: run in good places, and tuned."""
from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._installed import NighError, Path, Word, binary, complaint_of, environment, words
from ._results import rows_of


def run(cmd: Sequence[Word], *, options: Sequence[str] = (), **how: Any) -> "subprocess.CompletedProcess[Any]":
    """Runs a program under ``nigh run``, waits for it, and returns what ``subprocess.run`` returns.

    ``cmd`` is the program and its arguments; ``options`` are those of ``nigh run``, as ``["--threads", "8"]``;
    ``how`` is passed on to ``subprocess.run``: ``check=True``, ``capture_output=True``, ``timeout=60``.
    """
    return subprocess.run([str(binary()), "run", *options, "--", *words(cmd)], **how)


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
    profile: Optional[Dict[str, Any]]  #: for ``nigh run --profile``; None for MPI programs
    text: str  #: what the command prints: the ranking, and how sure it is
    is_complete: bool  #: False: it was interrupted, and knows less

    @property
    def best(self) -> Configuration:
        """The configuration that was best, whether reliably or not: ``text`` and ``chance`` say that."""
        return self.configurations[0]


def _configuration(row: Dict[str, Any]) -> Configuration:
    low, high = row["interval"]
    return Configuration(
        options=row["variant"], params=row["params"], metric=row["metric"], unit=row.get("unit", ""),
        undisturbed=row["undisturbed"], interval=(low, high), chance=row["chance"],
        samples=tuple(row["samples"]), cut_short=row.get("cut_short", False))


def tune(cmd: Sequence[Word], *, budget: Optional[str] = None, metric: Optional[str] = None, maximize: bool = False,
         output: Optional[Path] = None, options: Sequence[str] = ()) -> Tuning:
    """Finds the best options of ``nigh run`` for a program, by running it again and again under ``nigh tune``.

    ``budget`` is for how long, as ``"90s"`` or ``"10m"``, which is also without it; ``metric`` a regular expression whose
    first group is the number to compare in the program's output, instead of time, and ``maximize`` says that more of it
    is better. ``output`` keeps the profile in a file; ``options`` are further ones of ``nigh tune``, as
    ``["--threads", "2"]``.

    ``NighError`` where nothing could be measured: the program fails, or there is no ``metric`` in its output.
    """
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
        def run(arguments: List[str]) -> "subprocess.CompletedProcess[str]":
            return subprocess.run([*arguments, *options, "--", *words(cmd)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False, env=environment())

        done = run(arguments)
        if output is None and "for a launcher" in done.stderr:
            done = run([word for word in arguments if word not in ("-o", profile)])
        if not os.path.exists(measured):
            raise NighError(complaint_of(done))
        found = tuple(map(_configuration, rows_of(measured)))
        if not found:
            raise NighError(complaint_of(done))
        kept = None
        if os.path.exists(profile):
            with open(profile, encoding="utf-8") as file:
                kept = json.load(file)
        return Tuning(found, kept, done.stdout, done.returncode == 0)
