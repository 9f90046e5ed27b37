# SPDX-License-Identifier: Apache-2.0
"""Many runs in one boot of a guest, and what the locality meter counted in each."""
import dataclasses
import os
import subprocess
import sys

from numa_vm import report

HERE = os.path.dirname(os.path.realpath(__file__))


@dataclasses.dataclass
class MeteredRun:
    text: str  # on standard output
    laps: list  # the meter's, one of each range

    @property
    def facts(self):
        """Its lines, by their first words."""
        return dict(line.split(' ', 1) for line in self.text.splitlines() if ' ' in line)

    @property
    def accesses(self):
        return sum(lap.accesses for lap in self.laps)

    @property
    def remote(self):
        return sum(lap.remote for lap in self.laps)

    @property
    def remote_share(self):
        return self.remote / self.accesses


def metered_runs(nodes, cores, commands, ranges):
    """A MeteredRun for each of the commands, which have so many ranges of memory metered.

    Ends the test as numa-vm ends, unless that is well."""
    script = '\n'.join(f'echo run && {command} || exit' for command in commands)
    done = subprocess.run([HERE + '/numa-vm', '--nodes', str(nodes), '--cores', str(cores), '--huge-pages', 'never',
                           '--timeout', '1500', '--meter', '--', 'sh', '-c', script],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        sys.exit(done.returncode)
    texts = done.stdout.split('run\n')[1:]
    laps = report.read(done.stderr)  # in the order of the runs
    if len(texts) != len(commands) or len(laps) != ranges * len(commands):
        sys.exit(f'{len(commands)} runs printed {len(texts)} results and {len(laps)} reports of the meter')
    return [MeteredRun(text, laps[ranges * n:ranges * (n + 1)]) for n, text in enumerate(texts)]
