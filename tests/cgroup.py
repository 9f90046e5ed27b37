#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a cgroup of its own that grants so many cpus' worth of time.

    tests/cgroup.py QUOTA COMMAND...      QUOTA as 1.5; "max" for none

Ends as the command does, and prints how often its cgroup was throttled. Where no cgroup can be
made, it says why and exits with 77. Works with both versions of cgroups; wants to be root.
"""

import os
import pathlib
import subprocess
import sys
import time

PERIOD_US = 100_000
CANNOT = 77


class NoCgroup(Exception):
    """Why none can be made here."""


def own_group(controllers):
    """The calling process's cgroup in the hierarchy of these controllers, "" for version 2."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, group = line.split(":", 2)
        if controllers in names.split(","):
            return group.lstrip("/")
    return ""


def places():
    """(folder in which a group may be made, version), the likeliest first."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        point = pathlib.Path(before.split()[4])
        if kind == "cgroup" and "cpu" in options.split(","):
            yield point, 1
        if kind == "cgroup2":
            yield point / own_group(""), 2


class Group:
    """A cgroup with a quota, gone at the end of the with."""

    def __init__(self, quota, name="nigh-test"):
        why = "no hierarchy of cgroups with the controller cpu is mounted"
        for parent, self.version in places():
            self.folder = parent / f"{name}-{os.getpid()}"
            try:
                self.folder.mkdir()
            except OSError as error:
                why = str(error)
                continue
            try:
                if self.version == 2 and not (self.folder / "cpu.max").exists():
                    (parent / "cgroup.subtree_control").write_text("+cpu")
                self.set(quota)
                return
            except OSError as error:
                why = str(error)
                self.folder.rmdir()
        raise NoCgroup(why)

    def set(self, quota):
        """So many cpus' worth of time from now on; None: as many as there are."""
        if self.version == 2:
            text = "max" if quota is None else str(round(quota * PERIOD_US))
            (self.folder / "cpu.max").write_text(f"{text} {PERIOD_US}")
            return
        (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (self.folder / "cpu.cfs_quota_us").write_text(
            "-1" if quota is None else str(round(quota * PERIOD_US)))

    def enter(self):
        """For subprocess' preexec_fn."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def throttled(self):
        """(periods throttled, periods)"""
        pairs = [line.split() for line in (self.folder / "cpu.stat").read_text().splitlines()]
        found = {pair[0]: int(pair[1]) for pair in pairs}
        return found.get("nr_throttled", 0), found.get("nr_periods", 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Daemons that the command left are moved out; the dying need a moment.
        for _ in range(200):
            for pid in (self.folder / "cgroup.procs").read_text().split():
                try:
                    (self.folder.parent / "cgroup.procs").write_text(pid)
                except OSError:
                    pass
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.05)


def main(words):
    if len(words) < 2:
        sys.exit(__doc__)
    try:
        quota = None if words[0] == "max" else float(words[0])
    except ValueError:
        quota = 0
    if quota is not None and not quota > 0:
        sys.exit(f"cgroup.py: '{words[0]}' is no number of cpus")
    try:
        with Group(quota) as group:
            status = subprocess.run(words[1:], preexec_fn=group.enter, check=False).returncode
            throttled, periods = group.throttled()
            print(f"cgroup.py: throttled in {throttled} of {periods} periods", file=sys.stderr)
    except NoCgroup as why:
        print(f"cgroup.py: cannot make a cgroup: {why}", file=sys.stderr)
        return CANNOT
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
