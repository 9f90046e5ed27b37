# SPDX-License-Identifier: Apache-2.0
"""The locality meter's report, read back."""
import dataclasses
import re


@dataclasses.dataclass
class Lap:
    """What was counted between a start and a stop mark, in one range."""
    label: int
    range: object  # a number, or 'all'
    accesses: int
    loads: int
    stores: int
    remote: int
    table: list  # [node of the cpu][node of the memory]

    @property
    def remote_share(self):
        return self.remote / self.accesses


HEAD = re.compile(r'locality: lap=\d+ label=(-?\d+) range=(\w+) accesses=(\d+) loads=(\d+) stores=(\d+) remote=(\d+)')
ROW = re.compile(r'locality:   cpus of node \d+ to memory of each node:([ \d]+)$')


def read(text):
    """All laps in `text`, in order; other lines are passed over."""
    laps = []
    for line in text.splitlines():
        if head := HEAD.match(line):
            label, name, *counts = head.groups()
            laps.append(Lap(int(label), name if name == 'all' else int(name), *map(int, counts), table=[]))
        elif row := ROW.match(line):
            laps[-1].table.append([int(n) for n in row[1].split()])
    return laps
