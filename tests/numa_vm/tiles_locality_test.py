#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where tiles of planes and time steps run, in counts: on four domains of two cpus, with the grid's pages in
blocks over the domains, nigh's tiles stay with their pages without any barrier; handed out as threads come, with a
barrier after each row, they do not.

  tiles_locality_test.py DRIVER [REPETITIONS]

Counted twice: tile by tile, against the domain the kernel says its middle plane is in, and load by load, store by
store by the locality meter. Where threads take work as they come, runs differ: their median counts."""
import dataclasses
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from metered_runs import MeteredRun, metered_runs  # noqa: E402

# A row of tiles takes long against the 0.1 s for which the emulator lets one cpu run before the next.
PROBLEM = '--grid 64x160x480 --steps 8 --widths 8 --pages small'

QUEUES, BARRIERS, DYNAMIC = 'nigh/temporal', 'openmp/temporal', 'openmp/temporal-dynamic'
MOSTLY_REMOTE = 0.40  # more than; 3/4 is what chance gives
MOSTLY_LOCAL = 0.15  # at most


@dataclasses.dataclass
class Counts:
    """Of one run."""
    variant: str
    run: MeteredRun  # of the two copies of the grid

    @property
    def tiles(self):
        return {kind: int(self.run.facts['tiles_' + kind]) for kind in ('local', 'remote', 'unknown')}

    @property
    def tile_share(self):
        return self.tiles['remote'] / max(1, sum(self.tiles.values()))

    @property
    def access_share(self):
        return self.run.remote_share

    @property
    def correct(self):
        return self.run.facts['verified'] == 'yes' and self.tiles['unknown'] == 0


def run_all(driver, variants):
    commands = [f'{driver} --variant {variant} {PROBLEM} --report' for variant in variants]
    return [Counts(*counted) for counted in zip(variants, metered_runs(4, 2, commands, ranges=2))]


def expectation(variant, runs):
    """(what is expected of a variant, was it met)"""
    tiles = statistics.median(run.tile_share for run in runs)
    accesses = statistics.median(run.access_share for run in runs)
    if variant == DYNAMIC:
        return f'above {MOSTLY_REMOTE:.0%}', min(tiles, accesses) > MOSTLY_REMOTE
    return f'at most {MOSTLY_LOCAL:.0%}', max(tiles, accesses) <= MOSTLY_LOCAL


def main():
    driver, repetitions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    variants = [QUEUES, BARRIERS, DYNAMIC]
    runs = run_all(driver, variants * repetitions)
    wrong = 0
    print(f"{'variant':24} tiles  remote tiles  remote accesses  expected")
    for variant in variants:
        own = [run for run in runs if run.variant == variant]
        expected, met = expectation(variant, own)
        for run in own:
            note = f"{expected}{'' if met else ': NOT MET'}" if run is own[-1] else ''
            note += '' if run.correct else '  WRONG RESULT'
            print(f'{variant:24} {sum(run.tiles.values()):5} {run.tile_share:13.1%} {run.access_share:16.2%}  {note}'.rstrip())
        wrong += not met or not all(run.correct for run in own)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
