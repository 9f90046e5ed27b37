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


def main():
    vm = subprocess.run([NUMA_VM, '--nodes', str(NODES), '--cores', '2', '--timeout', '900', '--meter', '--', sys.argv[1]],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if vm.returncode:
        sys.stderr.write(vm.stderr)
        return vm.returncode
    laps = report.read(vm.stderr)
    known = [dict((k, int(v)) for k, v in (pair.split('=') for pair in line.split())) for line in vm.stdout.splitlines()]
    wrong = 0
    for lap, is_ in zip(laps, known):
        accesses = is_['loads'] + is_['stores']
        table = [[0] * NODES for _ in range(NODES)]
        table[is_['cpu_node']][is_['memory_node']] = accesses
        remote = 0 if is_['cpu_node'] == is_['memory_node'] else accesses
        counted = report.Lap(label=77, range=3, accesses=accesses, loads=is_['loads'], stores=is_['stores'],
                             remote=remote, table=table)
        if lap != counted:
            print(f'counted {lap}\nbut did {counted}')
            wrong += 1
    if not len(laps) == len(known) == NODES * NODES:
        print(f'{len(known)} patterns, {len(laps)} reports, expected {NODES * NODES} of each')
        wrong += 1
    print(f'{len(known)} patterns of accesses, {wrong} counted wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
