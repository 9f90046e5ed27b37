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
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from metered_runs import metered_runs  # noqa: E402

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


def main():
    commands = [f'{sys.argv[1]} {options} --report' for options in RUNS]
    shares, remote = {}, {}
    for options, run in zip(RUNS, metered_runs(2, 4, commands, ranges=3)):  # of u, r, v
        words = options.split()
        variant, bind = words[1], words[words.index('--bind') + 1]
        print(f'{options}: {run.remote_share:.2%} of {run.accesses:,} accesses remote')
        expect('verified', 'Verification    = SUCCESSFUL' in run.text)
        if '--mem' not in words:
            shares[variant] = run.remote_share
            remote[variant] = run.remote
            continue
        for field in 'urv':
            pages = [int(n) for n in run.facts[f'pages_of_{field}'].split()]
            expect(f'interleave spreads the pages of {field} evenly: {pages}', abs(pages[0] - pages[1]) <= 1)
        pinned = {cpus for cpus in run.facts['threads_may_run_on'].split() if cpus.isdigit()}
        expect(f'{bind} puts four threads on cpus {sorted(CPUS[bind])}: {sorted(pinned)}', pinned == CPUS[bind])
    expect('static: what lies at the borders only', shares[STATIC] < 0.02)
    expect('local: at most half of dynamic', shares[LOCAL] <= shares[DYNAMIC] / 2)
    # It has few, large pieces, and an emulated cpu that the host holds up is stolen from: 9 to 31%.
    expect('fused: at most a fifth of the remote accesses of dynamic', remote[FUSED] <= remote[DYNAMIC] / 5)
    expect('fused: at most four fifths of dynamic', shares[FUSED] <= 0.8 * shares[DYNAMIC])
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
