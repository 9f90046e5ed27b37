# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by the exit status it leaves."""


class UsageError(Exception):
    """The user's input is wrong; the message names the argument."""
    status = 2


class MissingTool(Exception):
    """Something that must be installed is not; ctest's SKIP_RETURN_CODE."""
    status = 77


class MachineFailed(Exception):
    """The guest could not be prepared or ended without an exit status."""
    status = 125


class TimedOut(Exception):
    status = 124
