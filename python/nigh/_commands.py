# SPDX-License-Identifier: Apache-2.0
"""The commands that the wheel installs: each becomes the program of its name."""
import os
import sys
from typing import NoReturn

import nigh as package

from ._installed import environment


def become(name: str) -> NoReturn:
    path = str(package.binary(name))
    os.execve(path, [path, *sys.argv[1:]], environment())


def nigh() -> NoReturn:
    become("nigh")


def nighd() -> NoReturn:
    become("nighd")
