# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by the exit status it leaves: as of env and timeout, so that other codes are the program's."""
from arguments import UsageError  # noqa: F401

WRONG_ARGUMENTS = 125


class NoProgram(UsageError):
    """There is no file of that name."""
    status = 127


class NotExecutable(UsageError):
    status = 126


class MissingTool(Exception):
    """Something that must be installed is not; ctest's SKIP_RETURN_CODE."""
    status = 77


class MachineFailed(Exception):
    """The guest could not be prepared or ended without an exit status."""
    status = 125


class NobodyReads(Exception):
    """The other end of the pipe that the output goes to is closed."""
    status = 141  # of a program that SIGPIPE ends


class TimedOut(Exception):
    status = 124
