#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claim of Wittmann and Hager (2009) in counts: on four domains of two cpus, the Jacobi solver's
blocks and accesses are mostly remote under plain tasks and under a dynamic schedule, and mostly local
with locality queues.

  jacobi_locality_test.py DRIVER [REPETITIONS]

Counted twice: block by block, against the domain the kernel says the block's pages are in, and load
by load, store by store by the locality meter. Where threads take work as they come, runs differ: their
median counts."""
import dataclasses
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from metered_runs import MeteredRun, metered_runs  # noqa: E402

DOMAINS = 4
# A sweep takes long against the 0.1 s for which the emulator lets one cpu run before the next.
NI, NJ, NK = 64, 160, 480
BLOCK = '64x10x10'
SWEEPS = 2
PAGE = 512  # doubles
ACCESSES_PER_UPDATE = 8  # at most: seven loads and a store

FAVOURABLE = [('static', 'jki'), ('static,1', 'kji'), ('static,1', 'jki')]  # cells of the paper's Table 1
MOSTLY_REMOTE = 0.40  # more than
MOSTLY_LOCAL = 0.15  # at most


@dataclasses.dataclass(frozen=True)
class Cell:
    variant: str
    init: str
    order: str

    def command(self, driver):
        return (f'{driver} --variant {self.variant} --init {self.init} --order {self.order} --grid {NI}x{NJ}x{NK} '
                f'--block {BLOCK} --sweeps {SWEEPS} --pages small --report')

    def __str__(self):
        return f'{self.variant:20} {self.init:9} {self.order}'


STATIC = Cell('openmp/static', 'static', 'kji')
DYNAMIC = Cell('openmp/dynamic', 'static,1', 'kji')
TASKS = [Cell('openmp/tasks', init, order) for init in ('static', 'static,1') for order in ('kji', 'jki')]
REMOTE = [DYNAMIC, *TASKS]
LOCAL = [Cell(variant, init, order) for variant in ('openmp/tasks+queues', 'nigh/queues') for init, order in FAVOURABLE]


@dataclasses.dataclass
class Counts:
    """Of one run."""
    cell: Cell
    run: MeteredRun  # of the two fields

    @property
    def blocks(self):
        return {kind: int(self.run.facts['blocks_' + kind]) for kind in ('local', 'remote', 'unknown')}

    @property
    def block_share(self):
        return self.blocks['remote'] / max(1, sum(self.blocks.values()))

    @property
    def access_share(self):
        return self.run.remote_share

    @property
    def correct(self):
        return self.run.facts['verified'] == 'yes' and self.blocks['unknown'] == 0


def run_all(driver, cells):
    commands = [cell.command(driver) for cell in cells]
    return [Counts(*counted) for counted in zip(cells, metered_runs(DOMAINS, 2, commands, ranges=2))]


def halo_only(counts):
    """The static schedule's remote accesses are the planes on the other side of the three borders, read
    once a sweep from both sides; but pages do not end where planes do, so that a border may lie up to
    a page aside."""
    halo = 2 * (DOMAINS - 1) * NI * NJ  # one sweep reads one field
    slack = (DOMAINS - 1) * PAGE * ACCESSES_PER_UPDATE
    return counts.blocks['remote'] == 0 and all(abs(f.remote - halo) <= slack for f in counts.run.laps)


def expectation(cell, runs):
    """(what is expected of a cell, was it met)"""
    if cell == STATIC:
        return 'its halo only', all(halo_only(run) for run in runs)
    blocks = statistics.median(run.block_share for run in runs)
    accesses = statistics.median(run.access_share for run in runs)
    if cell in REMOTE:
        return f'above {MOSTLY_REMOTE:.0%}', min(blocks, accesses) > MOSTLY_REMOTE
    return f'at most {MOSTLY_LOCAL:.0%}', max(blocks, accesses) <= MOSTLY_LOCAL


def main():
    driver, repetitions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    # Chance has most to say in a dynamic schedule, which hands out few large pieces.
    cells = [STATIC, DYNAMIC, DYNAMIC] + [DYNAMIC, *TASKS, *LOCAL] * repetitions
    runs = run_all(driver, cells)
    wrong = 0
    print(f"{'variant':20} {'init':9} order  remote blocks  remote accesses  expected")
    for cell in dict.fromkeys(cells):
        own = [run for run in runs if run.cell == cell]
        expected, met = expectation(cell, own)
        for run in own:
            note = f"{expected}{'' if met else ': NOT MET'}" if run is own[-1] else ''
            note += '' if run.correct else '  WRONG RESULT'
            print(f'{cell}   {run.block_share:12.1%} {run.access_share:16.2%}  {note}'.rstrip())
        wrong += not met or not all(run.correct for run in own)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
