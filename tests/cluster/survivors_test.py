#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that go on when others are lost: kills or stops ranks, has them exit, or cuts a host off, at random times, and asks that all others
end, with the right answers, and that nothing is left behind.

    survivors_test.py LAUNCHER PROGRAM [--runs N] [--ranks N] [--hosts N] [--faults KIND] [--most N] [--seed N] [--root]

PROGRAM is survivors.cpp. A seed stands for the victims and times of a run. Ends with 77 where there can be no hosts."""
import argparse
import collections
import random
import re
import sys

import jobs

RIGHT = re.compile(r'rank \d+: \d+ runs, 0 wrong, (\d+) tasks run again\n\Z')
SILENCE = 1.0  # seconds
ENDING = ('kill', 'exit')  # faults that end a process
OF_HOSTS = ('cut', 'link-down')


def plan(seed, chosen):
    """[(target, seconds)]: a host, or one to all but one of the ranks."""
    dice = random.Random(seed)
    if chosen.faults in OF_HOSTS:
        return [(f'n{dice.randint(1, chosen.hosts)}', dice.uniform(0, chosen.seconds * 1.1))]
    ranks = list(range(0 if chosen.root else 1, chosen.ranks))
    most = chosen.most or (1 if chosen.faults == 'stop' else chosen.ranks - 1)
    victims = dice.sample(ranks, dice.randint(1, min(most, len(ranks))))
    if chosen.faults == 'stop' and {0, 1} <= set(victims):
        victims.remove(1)  # the root and its deputy: no rank could say who is silent
    return [(rank, dice.uniform(0, chosen.seconds * 1.1)) for rank in victims]


def is_cut_off(rank, job, faults):
    """Whether it can know neither the root nor the root's deputy, ranks 0 and 1, any more: then it must end."""
    (cut, _), = faults
    here = rank['host'] == cut
    return all((other['host'] == cut) != here for other in job['ranks'] if other['rank'] < 2)


def run(chosen, seed, counts):
    """What was wrong, a line each."""
    faults = plan(seed, chosen)
    job, printed = jobs.run(jobs.hurting(chosen, chosen.faults, faults), [chosen.program, chosen.seconds, chosen.depth],
                            NIGH_CLUSTER_SILENCE=str(SILENCE))
    if job is None:
        return ['no report', printed]
    hurt = {fault['target'] for fault in job['faults']}
    counts['faults'] += len(hurt)
    wrong = jobs.complaints(job)
    for rank in job['ranks']:
        number, right = rank['rank'], RIGHT.search(rank['stdout'])
        if number in hurt and (rank['end'] in ('stopped', 'signal') or chosen.faults in ENDING):
            continue
        if chosen.faults in OF_HOSTS and is_cut_off(rank, job, faults) and jobs.status(rank) == 1:
            counts['ended'] += 1
            continue
        if number not in hurt and jobs.status(rank) != 0 or not right:
            wrong.append(jobs.ending(rank))
        else:
            counts['again'] += int(right[1])
    # The launcher waits for a rank that is stopped.
    if chosen.faults in ENDING and job['launcher'].get('status') != 0:
        wrong.append(f'launcher: {job["launcher"]}')
    return wrong + [f'seed {seed}: {faults}', printed] if wrong else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('launcher')
    parser.add_argument('program')
    parser.add_argument('--runs', type=int, default=1)
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--hosts', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=0.6, help='of a run without losses')
    parser.add_argument('--depth', type=int, default=18)
    parser.add_argument('--faults', choices=('kill', 'exit', 'stop', *OF_HOSTS), default='kill')
    parser.add_argument('--most', type=int, help='ranks that are hurt in a run (of stop: 1; else all but one)')
    parser.add_argument('--root', action='store_true', help='rank 0 may be lost, too')
    parser.add_argument('--seed', type=int, default=1, help='of the first run')
    chosen = parser.parse_args()
    if chosen.faults in OF_HOSTS and chosen.hosts < 2:
        parser.error('a host is cut off from others: --hosts 2 at least')
    counts = collections.Counter()
    bad = jobs.failures(range(chosen.seed, chosen.seed + chosen.runs), lambda seed: run(chosen, seed, counts))
    print(f'{chosen.launcher}, {chosen.ranks} ranks on {chosen.hosts} host{"s" * (chosen.hosts > 1)}, {chosen.faults}: '
          f'{chosen.runs - bad} of {chosen.runs} runs ended right; {counts["faults"]} '
          + (f'hosts were cut off, {counts["ended"]} ranks ended for that, ' if chosen.faults in OF_HOSTS else 'ranks were hurt, ')
          + f'{counts["again"]} tasks run again')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
