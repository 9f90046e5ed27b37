#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The multigrid benchmark on two domains of four cpus, in counts: loops under OpenMP's dynamic schedule
reach to the other domain for half of what they touch, under nigh's `local` for a small share of it;
interleave spreads pages evenly; compact and scatter put threads where they say.

  mg_locality_test.py PROGRAM

Class W: its loops take long against the 0.1 s for which the emulator lets one cpu run before the next.
Accesses are counted load by load, store by store, in the timed part; pages and threads as the kernel
tells."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from numa_vm import report  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
FIELDS = 3  # u, r, v: a range of the meter each

STATIC, DYNAMIC, LOCAL, FUSED = 'openmp/static', 'openmp/dynamic', 'nigh/local', 'nigh/fused'
RUNS = [f'--variant {variant} --class W --bind compact' for variant in (STATIC, DYNAMIC, LOCAL, FUSED)]
RUNS += [f'--variant {variant} --class S --threads 4 --bind {bind} --mem interleave'
         for variant in (STATIC, LOCAL) for bind in ('compact', 'scatter')]
CPUS = {'compact': {'0', '1', '2', '3'}, 'scatter': {'0', '4', '1', '5'}}

failures = []


def expect(what, met):
    print(f"{'ok     ' if met else 'NOT MET'} {what}")
    if not met:
        failures.append(what)


def run_all(program):
    script = '\n'.join(f'echo run && {program} {run} --report || exit' for run in RUNS)
    command = [HERE + '/numa-vm', '--nodes', '2', '--cores', '4', '--huge-pages', 'never', '--timeout', '1500',
               '--meter', '--', 'sh', '-c', script]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        sys.exit(done.returncode)
    laps = report.read(done.stderr)
    texts = done.stdout.split('run\n')[1:]
    if len(texts) != len(RUNS) or len(laps) != FIELDS * len(RUNS):
        sys.exit(f'{len(RUNS)} runs printed {len(texts)} results and {len(laps)} reports of the meter')
    return texts, [laps[FIELDS * n:FIELDS * (n + 1)] for n in range(len(RUNS))]


def facts_of(text):
    return dict(line.split(' ', 1) for line in text.splitlines() if line.startswith(('pages_of_', 'threads_')))


def main():
    texts, laps = run_all(sys.argv[1])
    shares, remote = {}, {}
    for run, text, fields in zip(RUNS, texts, laps):
        words = run.split()
        variant, bind = words[1], words[words.index('--bind') + 1]
        share = sum(f.remote for f in fields) / sum(f.accesses for f in fields)
        print(f'{run}: {share:.2%} of {sum(f.accesses for f in fields):,} accesses remote')
        expect('verified', 'Verification    = SUCCESSFUL' in text)
        facts = facts_of(text)
        if '--mem' not in words:
            shares[variant] = share
            remote[variant] = sum(f.remote for f in fields)
            continue
        for field in 'urv':
            pages = [int(n) for n in facts[f'pages_of_{field}'].split()]
            expect(f'interleave spreads the pages of {field} evenly: {pages}', abs(pages[0] - pages[1]) <= 1)
        pinned = {cpus for cpus in facts['threads_may_run_on'].split() if cpus.isdigit()}
        expect(f'{bind} puts four threads on cpus {sorted(CPUS[bind])}: {sorted(pinned)}', pinned == CPUS[bind])
    expect('static: what lies at the borders only', shares[STATIC] < 0.02)
    expect('local: at most half of dynamic', shares[LOCAL] <= shares[DYNAMIC] / 2)
    # It has few, large pieces, and an emulated cpu that the host holds up is stolen from: 9 to 31%.
    expect('fused: at most a fifth of the remote accesses of dynamic', remote[FUSED] <= remote[DYNAMIC] / 5)
    expect('fused: at most four fifths of dynamic', shares[FUSED] <= 0.8 * shares[DYNAMIC])
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
