# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by the exit status it leaves."""


class MissingTool(Exception):
    """Something that must be installed is not; ctest's SKIP_RETURN_CODE."""
    status = 77


class MachineFailed(Exception):
    """The guest could not be prepared or ended without an exit status."""
    status = 125


class TimedOut(Exception):
    status = 124
