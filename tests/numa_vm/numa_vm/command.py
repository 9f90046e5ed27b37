# SPDX-License-Identifier: Apache-2.0
"""The command: reads its arguments, makes what is missing, boots, runs."""
import fcntl
import os
import signal
import subprocess
import sys

from numa_vm import guest, initrd, kernel, meter, options
from numa_vm.errors import WRONG_ARGUMENTS, MachineFailed, MissingTool, NobodyReads, NoProgram, NotExecutable, TimedOut, UsageError
from numa_vm.progress import Progress

INTERRUPTED = 130


def cache_folder():
    root = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    folder = os.path.join(root, 'nigh', 'numa-vm')
    os.makedirs(folder, exist_ok=True)
    return folder


def prepared(chosen):
    """Everything a guest starts from. Several numa-vm may begin at once: one prepares, the rest wait."""
    guest.check_tools()
    cache = cache_folder()
    with open(os.path.join(cache, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = kernel.find(cache, chosen.kernel)
        plugin = meter.built(cache) if chosen.meter or chosen.prepare else None
        with Progress('packing what every guest starts from'):
            return found, initrd.base(cache, found), plugin


def main(arguments):
    # So that a terminated numa-vm still removes its files.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) != signal.SIG_IGN:  # as nohup has it
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    try:
        chosen, shape, program = options.parse(arguments)
        found, base, plugin = prepared(chosen)
        if chosen.prepare:
            return 0
        with guest.Guest(chosen, shape, found, base, plugin) as one:
            return one.run(program)
    except (NoProgram, NotExecutable, MissingTool, MachineFailed, TimedOut) as error:
        print(f'numa-vm: {error}', file=sys.stderr)
        # A test that is skipped for want of a tool is green; where that must not be, it fails.
        required = os.environ.get('NIGH_REQUIRE_NUMA_VM') == '1' and isinstance(error, MissingTool)
        return MachineFailed.status if required else error.status
    except NobodyReads as error:
        return error.status
    except UsageError as error:
        print(f'numa-vm: {error}', file=sys.stderr)
        return WRONG_ARGUMENTS
    except (OSError, subprocess.CalledProcessError) as error:  # a full disk, an archive that is cut short
        print(f'numa-vm: {error}', file=sys.stderr)
        return MachineFailed.status
    except KeyboardInterrupt:
        return INTERRUPTED
