#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Jacobi solver of Wittmann and Hager (2009) as a plain OpenMP program of clang, whose tasks say by `affinity` what they work
on, on four domains of two cpus: mostly remote as libomp runs it, mostly local under `nigh run --tasks`.

  openmp_tasks_locality_test.py NIGH PROGRAM

Counted twice: block by block by the program, by the kernel's word on its pages, and load by load, store by store by the
locality meter."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from metered_runs import metered_runs  # noqa: E402

PLACED = 'env NIGH_COORDINATOR=off OMP_PROC_BIND=close OMP_PLACES=cores OMP_WAIT_POLICY=passive'
# The emulator lets one cpu run for 0.1 s before the next, so that threads of `prefer` take tasks of others who wait for their cpu.
EXPECTED = {'plain': (0.4, 1), 'prefer': (0, 0.2), 'strict': (0, 0.05)}  # remote: from, to


def main():
    nigh, program = sys.argv[1:3]
    command = f'{program} 160 single count'
    ways = {'plain': '', **{tasks: f'{nigh} run --tasks {tasks} -- ' for tasks in ('prefer', 'strict')}}
    runs = metered_runs(4, 2, [f'{PLACED} {around}{command}' for around in ways.values()], ranges=2)
    wrong = 0
    for way, run in zip(ways, runs):
        local, remote = map(int, re.search(r'blocks (\d+) local (\d+) remote', run.text).groups())
        blocks = remote / (local + remote)
        least, most = EXPECTED[way]
        met = all(least <= share <= most for share in (blocks, run.remote_share)) and 'verified' in run.text
        wrong += not met
        print(f'{way:8} remote blocks {blocks:6.1%}, accesses {run.remote_share:6.2%}, expected {least:.0%} to {most:.0%}'
              f"{'' if met else ': NOT MET'}")
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
