#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a job when one of its ranks is killed, stopped, exits early or is cut off: all others
end, soon, not with status 0, and say which rank it was, where, and how long it was silent.

    faults_test.py LAUNCHER PROGRAM [KIND...] [--word WORD] [--runs N]

The program's ranks each say "at work" and would work for ever. Ranks are judged, not launchers, of which
several hang by themselves. Ends with 77 where there can be no hosts."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HOSTS = os.path.dirname(os.path.realpath(__file__)) + '/hosts'
ENDED = r'has ended without a word \(silent for \d+\.\d s\)'
SILENT = r'has been silent for \d+\.\d s'
NOTICE = 'tasks are not supervised'  # says rank 0 at start, where they should be
# What is done to rank 1, on n2; what others say of it; does it end like them?
KINDS = {
    'kill': ('kill:1', ENDED, False),
    'stop': ('stop:1', SILENT, False),
    'exit': ('exit:1', ENDED, False),
    'link-down': ('link-down:n2', SILENT, True),
    'cut': ('cut:n2', SILENT, True),
}
# hydra kills all ranks at once when it sees that one has died, often before they can say so.
LAUNCHER_OPTIONS = {'mpich': ['--launcher-options=-disable-auto-cleanup']}


def run(launcher, program, kind):
    """What was wrong, a line each."""
    fault, said_of_it, ends_too = KINDS[kind]
    with tempfile.NamedTemporaryFile() as told:
        done = subprocess.run(
            [HOSTS, '--hosts', '3', '--ranks', '3', '--launcher', launcher, *LAUNCHER_OPTIONS.get(launcher, []),
             '--fault', fault + ':0.1', '--faults-after', 'at work', '--ends-within', '15', '--keep-going',
             '--grace', '0.2', '--json', told.name, '--', *program],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200,
            env={'NIGH_CLUSTER_SILENCE': '1', **os.environ})
        if done.returncode == 77:
            print(done.stdout, end='')
            sys.exit(77)
        text = told.read()
    if done.returncode not in (0, 1) or not text:
        return [f'hosts: status {done.returncode}', done.stdout]
    job = json.loads(text)
    wrong = list(job['complaints'])
    for rank in job['ranks']:
        number = rank['rank']
        if number == 1 and not ends_too:
            continue
        # To rank 1 the others are the ones who are silent.
        lost = r'rank 1 on n2' if number != 1 else r'rank [02] on n[13]'
        line = f'nigh: {lost} {said_of_it}; rank {number} on n{number + 1} ends'
        lines = [line for line in rank['stderr'].splitlines() if line.startswith('nigh:') and NOTICE not in line]
        if (rank['end'], rank['status']) != ('exit', 1) or len(lines) != 1 or not re.fullmatch(line, lines[0]):
            wrong.append(f'rank {number}: {rank["end"]} {rank["status"]}, {lines}')
    return wrong + [done.stdout] if wrong else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('launcher')
    parser.add_argument('program')
    parser.add_argument('kinds', nargs='*', metavar='KIND', default=list(KINDS))
    parser.add_argument('--word', help="the program's argument")
    parser.add_argument('--runs', type=int, default=1, help='of each kind, one after another')
    arguments = parser.parse_args()
    failed = False
    program = [arguments.program, *([arguments.word] if arguments.word else [])]
    for kind in arguments.kinds:
        bad = 0
        for number in range(1, arguments.runs + 1):
            wrong = run(arguments.launcher, program, kind)
            bad += bool(wrong)
            for line in wrong:
                print(f'{kind}, run {number}: {line}', flush=True)
        print(f'{arguments.launcher}, {kind}: {arguments.runs - bad} of {arguments.runs} as promised', flush=True)
        failed |= bad > 0
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
