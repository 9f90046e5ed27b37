# SPDX-License-Identifier: Apache-2.0
"""Runs parallel programs near their data, with the command ``nigh`` that this package brings.

>>> import nigh
>>> nigh.run(["./solver"], options=["--threads", "8"]).returncode
0
"""
import importlib.metadata
import os
import pathlib
import subprocess
from typing import Any, Sequence, Union

__all__ = ["binary", "run"]
__version__: str = importlib.metadata.version("nigh-runtime")

Word = Union[str, "os.PathLike[str]"]


def binary(name: str = "nigh") -> pathlib.Path:
    """The path of a command of this package: ``"nigh"`` or ``"nighd"``.

    Raises ``FileNotFoundError`` for any other name.
    """
    path = pathlib.Path(__file__).resolve().parent / "installed" / "bin" / name
    if not path.is_file():
        raise FileNotFoundError(f"nigh has no command {name!r}")
    return path


def run(cmd: Sequence[Word], *, options: Sequence[str] = (), **how: Any) -> "subprocess.CompletedProcess[Any]":
    """Runs a program under ``nigh run``, waits for it, and returns what ``subprocess.run`` returns.

    ``cmd`` is the program and its arguments; ``options`` are those of ``nigh run``, as ``["--threads", "8"]``;
    ``how`` is passed on to ``subprocess.run``: ``check=True``, ``capture_output=True``, ``timeout=60``.
    """
    if isinstance(cmd, (str, os.PathLike)):
        raise TypeError("cmd is a list: the program and its arguments")
    return subprocess.run([str(binary()), "run", *options, "--", *map(os.fspath, cmd)], **how)
