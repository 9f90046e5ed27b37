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


def failures(runs, what):
    """Prints what what(n) says of each run, a list of lines; returns how many had any."""
    bad = 0
    for n in runs:
        wrong = what(n)
        bad += bool(wrong)
        for line in wrong:
            print(line, flush=True)
    return bad
