#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The locality meter against accesses whose number and places are known: meter_test.py PROGRAM, with
the built meter_pattern."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from numa_vm import report  # noqa: E402

NUMA_VM = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'numa-vm')
NODES = 4
PATTERNS = NODES * NODES + 1


def truth(line):
    """What a line of the program says it did, as the meter should report it."""
    fields = dict(pair.split('=') for pair in line.split())
    table = [[int(n) for n in row.split(',') if n] for row in fields['table'].split('/') if row]
    loads, stores = int(fields['loads']), int(fields['stores'])
    remote = sum(n for i, row in enumerate(table) for j, n in enumerate(row) if i != j)
    return report.Lap(label=77, range=3, accesses=loads + stores, loads=loads, stores=stores, remote=remote, table=table)


def main():
    vm = subprocess.run([NUMA_VM, '--nodes', str(NODES), '--cores', '2', '--timeout', '900', '--meter', '--', sys.argv[1]],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if vm.returncode:
        sys.stderr.write(vm.stderr)
        return vm.returncode
    laps = report.read(vm.stderr)
    known = [truth(line) for line in vm.stdout.splitlines()]
    wrong = 0
    for counted, did in zip(laps, known):
        if counted != did:
            print(f'counted {counted}\nbut did {did}')
            wrong += 1
    if not len(laps) == len(known) == PATTERNS:
        print(f'{len(known)} patterns, {len(laps)} reports, expected {PATTERNS} of each')
        wrong += 1
    print(f'{len(known)} patterns of accesses, {wrong} counted wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
