#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A spare rank takes the place of one that is killed: within a second, and the answer is right.

    spares_test.py LAUNCHER PROGRAM [--runs N] [--ranks N] [--most-ms N]

PROGRAM is successor.cpp. Each working rank is killed in turn. Ends with 77 where there can be no hosts."""
import argparse
import re
import sys

import jobs

def run(chosen, victim, waits):
    """What was wrong, a line each."""
    job, printed = jobs.run(['--hosts', 1, '--ranks', chosen.ranks, '--launcher', chosen.launcher], [chosen.program, victim])
    if job is None:
        return ['no report', printed]
    wrong = [line for line in jobs.complaints(job) if f'rank {victim}' not in line]
    for rank in job['ranks']:
        number, out = rank['rank'], rank['stdout']
        if number != victim and (jobs.status(rank) != 0 or f'rank {number}: right\n' not in out):
            wrong.append(jobs.ending(rank))
    ends = re.search(r' ends at (\d+) us', job['ranks'][victim]['stdout'])
    begins = re.search(r' begins at (\d+) us', job['ranks'][-1]['stdout'])
    if not ends or not begins:
        wrong.append('no rank was killed, or the spare rank had no task')
    else:
        wait = (int(begins[1]) - int(ends[1])) / 1000
        waits.append(wait)
        if not 0 < wait < chosen.most_ms:
            wrong.append(f'rank {chosen.ranks - 1} began its first task {wait:.1f} ms after the loss')
    return wrong + [f'rank {victim} was killed', printed] if wrong else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('launcher')
    parser.add_argument('program')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--most-ms', type=float, default=1000)
    chosen = parser.parse_args()
    waits = []
    bad = jobs.failures(range(chosen.runs), lambda number: run(chosen, number % (chosen.ranks - 1), waits))
    took = f'{min(waits):.1f} to {max(waits):.1f} ms after the loss' if waits else 'never'
    print(f'{chosen.launcher}, {chosen.ranks} ranks, one of them spare: {chosen.runs - bad} of {chosen.runs} runs ended right; '
          f'the spare rank began its first task {took}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
