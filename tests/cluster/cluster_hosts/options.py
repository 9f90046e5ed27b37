# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import os
import shlex
import shutil

from arguments import Parser, UsageError, number, seconds
from cluster_hosts import faults, launchers, watch
from cluster_hosts.errors import Missing

MOST_HOSTS, MOST_RANKS = 16, 256

ABOUT = """\
Runs an MPI program on several hosts, which are network namespaces of this one: each has an address, a
name, a /dev/shm and a TMPDIR of its own. Says how each rank ended, hurts them on request, and leaves
nothing behind, however it ends. Needs root, or the right to make user namespaces."""

EPILOG = """\
faults: kill:RANK:SECONDS, stop:RANK:SECONDS, continue:RANK:SECONDS, exit:RANK:SECONDS (an _exit(0) in the
midst of whatever it does), link-down:HOST:SECONDS (its link goes down), cut:HOST:SECONDS (its frames
vanish), link-up:HOST:SECONDS (ends both). Hosts are n1, n2, ...; the launcher runs on n1.

exit status: the launcher's (128 + N when a signal N killed it), 1 instead of 0 when it hung or processes
were left; with --ends-within 0 or 1 by what became of the ranks; 2 bad arguments; 77 a tool or a right is
missing; 124 timeout; 125 the hosts could not be made.

examples:
  hosts --hosts 3 --ranks 4 --launcher mpich -- ./program
  hosts --hosts 3 --launcher openmpi --fault kill:1:2 --ends-within 15 --keep-going -- ./program"""


def parser():
    p = Parser(prog='hosts', description=ABOUT, epilog=EPILOG, allow_abbrev=False,
               formatter_class=argparse.RawDescriptionHelpFormatter, usage='hosts [options] -- PROGRAM [ARGS...]')
    p.add_argument('--hosts', type=number, default=2, metavar='N', help='how many (2)')
    p.add_argument('--ranks', type=number, metavar='N', help='of the program, the first hosts get more (one a host)')
    p.add_argument('--launcher', choices=launchers.LINES, default='openmpi', help='who starts them (openmpi)')
    p.add_argument('--launcher-options', default='', metavar='TEXT', help='further ones: --launcher-options="-x NAME"')
    p.add_argument('--timeout', type=seconds, default=60, metavar='S', help='of all (60)')
    p.add_argument('--fault', action='append', default=[], metavar='KIND:TARGET:S', dest='faults',
                   help='what to do to whom, so long after all ranks began; may be repeated')
    p.add_argument('--faults-after', metavar='TEXT', help='count from the first line of output that holds this')
    p.add_argument('--ends-within', type=seconds, metavar='S',
                   help='every rank that no fault ended must end, not with 0, so soon after the last fault')
    p.add_argument('--grace', type=seconds, default=10, metavar='S',
                   help='for the launcher to end after all ranks, and for them after it (10)')
    p.add_argument('--keep-going', action='store_true', help='a launcher that hangs is reported, no failure')
    p.add_argument('--json', metavar='FILE', help='what became of all, for scripts')
    p.add_argument('-v', '--verbose', action='store_true', help='tell how each rank ended though all went well')
    p.add_argument('program', nargs='*', help=argparse.SUPPRESS)
    return p


def parse(arguments):
    if '--' in arguments:
        cut = arguments.index('--')
        arguments, program = arguments[:cut], arguments[cut + 1:]
    else:
        program = []
    chosen = parser().parse_args(arguments)
    if chosen.program or not program:
        raise UsageError('the program comes after --; see hosts --help')
    if not 1 <= chosen.hosts <= MOST_HOSTS:
        raise UsageError(f'--hosts {chosen.hosts}: from 1 to {MOST_HOSTS}')
    chosen.ranks = chosen.hosts if chosen.ranks is None else chosen.ranks
    if not 1 <= chosen.ranks <= MOST_RANKS:
        raise UsageError(f'--ranks {chosen.ranks}: from 1 to {MOST_RANKS}')
    if shutil.which(program[0]) is None:
        raise UsageError(f'{program[0]}: no such program')
    for name in ('faults_after', 'ends_within'):
        if getattr(chosen, name) is not None and not chosen.faults:
            raise UsageError(f"--{name.replace('_', '-')}: there is no --fault")
    chosen.faults = [faults.parse(text, chosen.hosts, chosen.ranks) for text in chosen.faults]
    chosen.launcher_options = shlex.split(chosen.launcher_options)
    chosen.program = program
    return chosen


def check_tools(chosen):
    """Complains about what is not here, so that the caller may skip what it wanted to do."""
    tools = ('ip', 'nsenter', *launchers.TOOLS[chosen.launcher])
    missing = [names.split('|')[0] for names in tools if not launchers.found(names)]
    if missing:
        raise Missing(f"{', '.join(missing)} not found")
    if chosen.launcher.startswith('slurm') and os.geteuid() != 0:
        raise Missing('only root may start a Slurm')
    if any(fault.kind == 'exit' for fault in chosen.faults) and not watch.can_exit():
        raise Missing('faults of the kind exit are there on x86-64 only')
