# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by the exit status it leaves."""

TIMED_OUT = 124


class Missing(Exception):
    """A tool that is not installed, or a right that this user lacks; ctest's SKIP_RETURN_CODE."""
    status = 77


class HostsFailed(Exception):
    """The hosts could not be made."""
    status = 125


class BadStart(HostsFailed):
    """Others' software did not start, which it does when tried again."""
    status = 75
