#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that go on from checkpoints when others are killed, rank 0 and several of a run among them: the result must be the
same bit for bit, and some work must have gone on from a checkpoint.

    checkpoints_test.py LAUNCHER PROGRAM [--runs N] [--ranks N] [--hosts N] [--side N] [--rounds N] [--seed N]

PROGRAM is checkpoints.cpp. A seed stands for the victims and times of a run. Ends with 77 where there can be no hosts."""
import argparse
import collections
import random
import re
import sys

import jobs

SAYS = re.compile(r'rank \d+: grid (\w+) is right; went on from a checkpoint: grid (\d+), blocks (\d+)\n\Z')
LASTED = re.compile(r'% of ([0-9.]+) s\n')


def start(chosen, faults):
    return jobs.run(jobs.hurting(chosen, 'kill', faults), [chosen.program, chosen.side, chosen.rounds, 4])


def unkilled(chosen):
    """(the grid's hash, seconds)."""
    job, printed = start(chosen, [])
    said, lasted = (SAYS.search(job['ranks'][0]['stdout']), LASTED.search(printed)) if job else (None, None)
    if not said or not lasted:
        sys.exit(f'without a kill:\n{printed}')
    return said[1], float(lasted[1])


def plan(seed, chosen, seconds):
    """[(rank, seconds)], for one to all but one of the ranks; rank 0 in every second run."""
    dice = random.Random(seed)
    victims = dice.sample(range(chosen.ranks), dice.randint(1, chosen.ranks - 1))
    if seed % 2 == 0 and 0 not in victims:
        victims[0] = 0
    return [(rank, dice.uniform(0, seconds)) for rank in victims]


def run(chosen, expected, seconds, seed, counts):
    """What was wrong, a line each."""
    faults = plan(seed, chosen, seconds)
    job, printed = start(chosen, faults)
    if job is None:
        return ['no report', printed]
    killed = {fault['target'] for fault in job['faults']}
    counts['killed'] += len(killed)
    wrong = jobs.complaints(job)
    for rank in job['ranks']:
        said = SAYS.search(rank['stdout'])
        if rank['rank'] in killed:
            continue
        if jobs.status(rank) != 0 or not said or said[1] != expected:
            wrong.append(jobs.ending(rank))
        else:
            counts['grids'] += int(said[2])
            counts['blocks'] += int(said[3])
    return wrong + [f'seed {seed}: {faults}', printed] if wrong else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('launcher')
    parser.add_argument('program')
    parser.add_argument('--runs', type=int, default=1)
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--hosts', type=int, default=1)
    parser.add_argument('--side', type=int, default=300)
    parser.add_argument('--rounds', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1, help='of the first run')
    chosen = parser.parse_args()
    counts = collections.Counter()
    expected, seconds = unkilled(chosen)
    bad = jobs.failures(range(chosen.seed, chosen.seed + chosen.runs), lambda seed: run(chosen, expected, seconds, seed, counts))
    print(f'{chosen.launcher}, {chosen.ranks} ranks on {chosen.hosts} host{"s" * (chosen.hosts > 1)}: {chosen.runs - bad} of {chosen.runs} '
          f'runs ended right; {counts["killed"]} ranks were killed; from a checkpoint went on {counts["grids"]} grids and '
          f'{counts["blocks"]} blocks')
    return 1 if bad or (chosen.runs > 1 and counts['grids'] == 0) else 0


if __name__ == '__main__':
    sys.exit(main())
