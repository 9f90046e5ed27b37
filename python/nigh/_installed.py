# SPDX-License-Identifier: Apache-2.0
"""Where the commands and the libraries of this nigh are: in the wheel beside the module, else above its folder."""
from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys
from typing import Dict, List, Sequence, Union

Word = Union[str, "os.PathLike[str]"]
Path = Union[str, "os.PathLike[str]"]
COMMANDS = ("nigh", "nighd")
ANY_BYTES = "surrogateescape"  # of what commands print, with words and paths of the user


class NighError(RuntimeError):
    """A command of nigh, or the system, refused: the message is what it said."""


def prefix() -> pathlib.Path:
    """The folder that has ``bin/nigh`` and ``libexec/nigh`` in it."""
    here = pathlib.Path(os.path.abspath(__file__)).parent
    for folder in [here / "installed", *here.parents]:
        if (folder / "bin" / "nigh").is_file():
            return folder
    raise FileNotFoundError(f"there is no bin/nigh above {here}: the module nigh comes with nigh's commands")


def binary(name: str = "nigh") -> pathlib.Path:
    """The path of a command of this package: ``"nigh"`` or ``"nighd"``.

    Raises ``FileNotFoundError`` for any other name.
    """
    if name not in COMMANDS:
        raise FileNotFoundError(f"nigh has no command {name!r}")
    return prefix() / "bin" / name


def words(cmd: Sequence[Word]) -> List[str]:
    """A command as strings; one string is refused, for nobody says where its words end."""
    said = _listed(cmd, "cmd is a list: the program and its arguments")
    if not said:
        raise ValueError("cmd is empty: it begins with a program")
    return said


def option_words(options: Sequence[Word]) -> List[str]:
    """Options as strings; one string is refused, for its letters are a sequence as well."""
    return _listed(options, 'options is a list of words, as ["--threads", "8"]')


def _listed(said: Sequence[Word], rule: str) -> List[str]:
    if isinstance(said, (str, bytes, os.PathLike)):
        raise TypeError(rule)
    return [os.fspath(word) for word in said]


def environment() -> Dict[str, str]:
    """That of the commands: figures and reports are drawn by this Python, if it can and no other is asked for."""
    return {**({"NIGH_PYTHON": sys.executable} if sys.executable else {}), **os.environ}


def output_of(*arguments: str) -> str:
    """The standard output of a command of nigh. ``NighError`` with its complaint where it ends with another status than 0."""
    done = subprocess.run([str(binary()), *arguments], capture_output=True, encoding="utf-8", errors=ANY_BYTES,
                          check=False)
    if done.returncode != 0:
        raise NighError(complaint_of(done.stderr, done.returncode))
    return done.stdout


def complaint_of(errors: str, status: int) -> str:
    """The last line of a command's standard error."""
    said = [line for line in errors.splitlines() if line.strip()]
    return said[-1] if said else f"nigh ended with status {status}"


@functools.lru_cache(maxsize=None)
def version() -> str:
    """The version of the commands."""
    return output_of("--version").split()[-1]
