# SPDX-License-Identifier: Apache-2.0
"""Jobs of several ranks that `hosts` starts, for tests."""
import json
import os
import subprocess
import sys
import tempfile

HOSTS = os.path.dirname(os.path.realpath(__file__)) + '/hosts'


def run(options, program, **variables):
    """(the job as JSON or None, all that was printed). Ends with 77 where there can be no hosts. The caller's own environment
    goes before `variables`."""
    with tempfile.NamedTemporaryFile() as told:
        words = [HOSTS, *options, '--timeout', '40', '--grace', '5', '--keep-going', '--json', told.name, '--', *program]
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
                              env={**variables, **os.environ})
        if done.returncode == 77:
            print(done.stdout, end='')
            sys.exit(77)
        text = told.read()
    return json.loads(text) if text else None, done.stdout


def hurting(chosen, kind, faults):
    """Options of `hosts` for that job, whose faults are [(target, seconds after it is at work)]."""
    options = ['--hosts', chosen.hosts, '--ranks', chosen.ranks, '--launcher', chosen.launcher]
    options += ['--faults-after', 'at work'] if faults else []
    for target, when in faults:
        options += ['--fault', f'{kind}:{target}:{when:.4f}']
    return options


def complaints(job):
    """Of `hosts`, and of shared memory that is left: supervised ranks share none. A fault that would have come too late is no
    reason for one."""
    return ([line for line in job['complaints'] if not line.startswith('the job was over before')]
            + [f'left behind on {one["host"]}: /dev/shm/{one["name"]}' for one in job['segments']])


def status(rank):
    """With which it ended; None: otherwise."""
    return rank.get('status') if rank['end'] == 'exit' else None


def ending(rank):
    """For people."""
    return f'rank {rank["rank"]}: {rank["end"]} {rank.get("status")}: {rank["stdout"][-300:]}{rank["stderr"][-500:]}'


def failures(runs, what):
    """Prints what what(n) says of each run, a list of lines; returns how many had any."""
    bad = 0
    for n in runs:
        wrong = what(n)
        bad += bool(wrong)
        for line in wrong:
            print(line, flush=True)
    return bad
