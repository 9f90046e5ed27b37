# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import os
import re
import shutil

from arguments import Parser, UsageError, number, seconds
from numa_vm.errors import NoProgram, NotExecutable
from numa_vm.shape import make_shape

ABOUT = """\
Runs a program of this host on an emulated machine with several NUMA nodes.

The guest is a real Linux kernel under QEMU's software emulation (no KVM). It
sees this host's file system at the same paths; what it writes there is lost
when it ends, except below --writable folders. Standard output, standard error
and exit status are the program's."""

EXIT_STATUS = """\
exit status: the program's (128 + N when killed by signal N); 77 a tool is
missing; 124 timeout; 125 bad arguments, or the machine failed; 126 the program
is not executable; 127 there is none.

examples:
  numa-vm --nodes 4 --cores 2 -- numactl -H
  numa-vm --nodes 2 --cores 2 --memory-only 1 --hmat -- lstopo-no-graphics
  numa-vm --nodes 4 --cores 2 --meter -- ./yourprogram"""


def version():
    """Of nigh: a file has it where nigh is installed, and CMake's list in its sources."""
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    try:
        with open(os.path.join(here, 'version'), encoding='ascii') as file:
            return file.read().strip()
    except FileNotFoundError:
        with open(os.path.join(here, '..', '..', 'CMakeLists.txt'), encoding='utf-8') as file:
            return re.search(r'project\(nigh\s+VERSION\s+([\d.]+)', file.read())[1]


def numbers(name, text, count):
    """A list as the kernel writes them, '0-1,4' -> [0, 1, 4]; each below count."""
    out = []
    for part in text.split(','):
        match = re.fullmatch(r'(\d+)(?:-(\d+))?', part)
        run = range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
        if not run or run[-1] >= count:
            raise UsageError(f"{name}: '{text}' is no list of numbers below {count}; write 0-1,4")
        out += run
    return out


def parser():
    p = Parser(prog='numa-vm', description=ABOUT, epilog=EXIT_STATUS, allow_abbrev=False,
               formatter_class=argparse.RawDescriptionHelpFormatter,
               usage='numa-vm [options] -- PROGRAM [ARGS...]')
    shape = p.add_argument_group('the machine')
    shape.add_argument('--nodes', type=number, default=2, metavar='N', help='NUMA nodes with cpus (2)')
    shape.add_argument('--cores', type=number, default=2, metavar='N', help='cores of each node (2)')
    shape.add_argument('--threads', type=number, default=1, metavar='N', help='hardware threads of each core (1)')
    shape.add_argument('--nodes-per-socket', type=number, default=1, metavar='N', help='sub-NUMA clustering (1)')
    shape.add_argument('--memory-only', type=number, default=0, metavar='N',
                       help='further nodes with memory and no cpus (0)')
    shape.add_argument('--memory', default='384M', metavar='SIZE[,SIZE...]',
                       help='of each node, or of all one by one; 0: a node without memory (384M)')
    shape.add_argument('--distances', default='flat', metavar='HOW',
                       help='flat, ring, line, pairs, or rows as 10,20/20,10 (flat)')
    shape.add_argument('--hmat', action='store_true', help='the firmware tells latency and bandwidth too')
    shape.add_argument('--offline', metavar='LIST', help='cpus to switch off once it runs: 1-3,5')
    shape.add_argument('--parallel', action='store_true',
                       help='emulate cpus in parallel: true concurrency, but threads that spin get slow')
    inside = p.add_argument_group('the program')
    inside.add_argument('--env', action='append', default=[], metavar='NAME[=VALUE]',
                        help='set an environment variable, or pass it on')
    inside.add_argument('--writable', action='append', default=[], metavar='DIR',
                        help='a folder of this host that the program may write to')
    inside.add_argument('--stdin', action='store_true', help='pass standard input on')
    inside.add_argument('--user', metavar='UID[:GID]', help='run as this user, not as root')
    inside.add_argument('--cpuset', metavar='LIST', help='allow these cpus only, by a cgroup: 0-1,4')
    inside.add_argument('--mems', metavar='LIST', help='allow memory of these nodes only, by a cgroup')
    inside.add_argument('--huge-pages', choices=['always', 'madvise', 'never'],
                        help='transparent huge pages (as the kernel has them)')
    inside.add_argument('--numa-balancing', action='store_true', help='let the kernel migrate pages on its own')
    inside.add_argument('--setup', action='append', default=[], metavar='LINE',
                        help='shell line that runs as root before the program')
    inside.add_argument('--timeout', type=seconds, default=300, metavar='SECONDS', help='for everything (300)')
    meter = p.add_argument_group('the locality meter')
    meter.add_argument('--meter', action='store_true',
                       help='count accesses by (node of the cpu, node of the memory); report on standard error')
    meter.add_argument('--meter-all', action='store_true', help='count from the first instruction, not between marks')
    meter.add_argument('--meter-cache', type=number, metavar='KIB',
                       help='count only what misses a direct-mapped cache of this size on every cpu')
    meter.add_argument('--meter-file', metavar='FILE', help='report there instead')
    debug = p.add_argument_group('looking inside')
    debug.add_argument('--kernel', metavar='VMLINUZ', help='another kernel; its modules are in /lib/modules')
    debug.add_argument('--kernel-argument', action='append', default=[], metavar='ARG',
                       help='one more for the kernel; --kernel-argument=ARG where it begins with a dash')
    debug.add_argument('--qemu-argument', action='append', default=[], metavar='ARG', help='one more for QEMU')
    debug.add_argument('--verbose', action='store_true', help="show QEMU's command line and the guest's console")
    p.add_argument('--version', action='version', version=f'numa-vm {version()}', help='print the version and leave')
    p.add_argument('--prepare', action='store_true', help='only fetch and unpack what a guest needs')
    return p


def parse(arguments):
    """Everything before the first -- is ours; returns (options, shape, program)."""
    split = arguments.index('--') if '--' in arguments else len(arguments)
    options = parser().parse_args(arguments[:split])
    program = arguments[split + 1:]
    shape = make_shape(options.nodes, options.cores, options.threads, options.nodes_per_socket,
                       options.memory_only, options.memory, options.distances, options.hmat)
    check(options, shape)
    if options.prepare:
        return options, shape, program
    if not program:
        raise UsageError('no program; write it after --')
    if not shutil.which(program[0]):
        if os.path.exists(program[0]) and '/' in program[0]:
            raise NotExecutable(f"cannot run '{program[0]}': it is not executable")
        raise NoProgram(f"cannot run '{program[0]}': there is no such program")
    return options, shape, program


def check(options, shape):
    """What argparse does not know. Before anything is started: a mistake costs a line, not a boot."""
    host = len(os.sched_getaffinity(0))
    if options.parallel and shape.cpus > 2 * host:  # beyond that the guest's kernel hangs while it boots
        raise UsageError(f'--parallel: {shape.cpus} cpus are more than twice the {host} of this host')
    if options.cpuset is not None:
        numbers('--cpuset', options.cpuset, shape.cpus)
    if options.mems is not None:
        numbers('--mems', options.mems, len(shape.memory_mib))
    options.offline = numbers('--offline', options.offline, shape.cpus) if options.offline else []
    if 0 in options.offline:
        raise UsageError('--offline: cpu 0 cannot be switched off')
    if options.user is not None and not re.fullmatch(r'\d+(:\d+)?', options.user):
        raise UsageError(f"--user: '{options.user}' is not UID or UID:GID in numbers")
    for item in options.env:
        if not re.fullmatch(r'[A-Za-z_]\w*(=.*)?', item, re.S):
            raise UsageError(f"--env: '{item}' is neither NAME nor NAME=VALUE")
    for folder in options.writable:
        if not os.path.isdir(folder) or re.search(r'[\s,]', os.path.abspath(folder)):
            raise UsageError(f"--writable: no folder '{folder}' with a name free of blanks and commas")
    if options.kernel and not re.search(r'/vmlinuz-[^/]+$', os.path.abspath(options.kernel)):
        raise UsageError(f"--kernel: '{options.kernel}' is not named vmlinuz-RELEASE")
    if options.kernel and not os.path.isfile(options.kernel):
        raise UsageError(f"--kernel: no file '{options.kernel}'")
    if options.meter_cache is not None and options.meter_cache < 1:
        raise UsageError(f'--meter-cache: {options.meter_cache} is less than 1')
    if not options.meter:
        for name in ('meter_all', 'meter_cache', 'meter_file'):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')}: needs --meter")
    if options.meter_file:
        try:
            open(options.meter_file, 'a').close()
        except OSError as error:
            raise UsageError(f"--meter-file: cannot write '{options.meter_file}': {error.strerror}") from None
