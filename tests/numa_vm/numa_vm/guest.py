# SPDX-License-Identifier: Apache-2.0
"""One boot: starts QEMU, passes the program's output on, and finds out how it ended."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from numa_vm import initrd, machine, meter
from numa_vm.errors import MachineFailed, MissingTool, NobodyReads, TimedOut
from numa_vm.progress import Progress

QEMU = 'qemu-system-x86_64'
PASSED_ON = re.compile(r'(PATH|HOME|LANG|TERM|USER|LD_LIBRARY_PATH|(NIGH|OMP|GOMP|KMP|GTEST|HWLOC|TBB|[ATL]SAN|UBSAN)_.*)$')
CONSOLE_LINES_SHOWN = 40


def environment(options, shape):
    """What the program sees of this environment: little, so that runs are alike."""
    kept = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
    kept['NUMA_VM'] = f'{shape.nodes}x{shape.cpus_per_node}'
    for item in options.env:
        name, given, value = item.partition('=')
        kept[name] = value if given else os.environ.get(name, '')
    return kept


def pump(source, target, before, failed):
    """Copies until the other side closes, and calls before() first. QEMU gets a pipe of ours, as it would change the flags of
    a descriptor that others share (a terminal's, say). After a write that fails, which is told to failed(), it only reads:
    the guest waits while nobody does."""
    is_written = True
    while data := os.read(source, 65536):
        before()
        while data and is_written:
            try:
                data = data[os.write(target, data):]
            except OSError as error:
                is_written = False
                failed(error)
    os.close(source)


def last_lines(path):
    if not os.path.exists(path):
        return ''
    with open(path, errors='replace') as file:
        return ''.join(file.readlines()[-CONSOLE_LINES_SHOWN:])


class Guest:
    def __init__(self, options, shape, kernel, base, plugin):
        self.options, self.shape, self.kernel, self.base, self.plugin = options, shape, kernel, base, plugin
        self.folder = tempfile.mkdtemp(prefix='numa-vm.')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program):
        """Boots, runs the program, returns its exit status."""
        self.write_initrd(program)
        pipes = {'out': (1, os.pipe()), 'err': (2, os.pipe())}
        command = self.command(pipes)
        if self.options.verbose:
            print('numa-vm: ' + ' '.join(command), file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        ends = [write_end for _, (_, write_end) in pipes.values()]
        with open(self.path('qemu.log'), 'wb') as log:
            # setpriv: QEMU dies with us, however we die.
            qemu = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', *command], stdout=log, stderr=log,
                                    stdin=None if self.options.stdin else subprocess.DEVNULL, pass_fds=ends)
        for end in ends:
            os.close(end)
        booting = Progress('booting the guest', lambda: 'BOOTED' in last_lines(self.path('control')))
        lost = []

        def failed(error):
            lost.append(error)
            qemu.kill()  # nobody will see what else the program says

        pumps = [threading.Thread(target=pump, args=(read_end, target, booting.stop, failed), daemon=True)
                 for target, (read_end, _) in pipes.values()]
        for thread in pumps:
            thread.start()
        timed_out = False
        try:
            with booting:
                qemu.wait(self.options.timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            qemu.kill()
            qemu.wait()
        for thread in pumps:
            thread.join()
        if any(isinstance(error, BrokenPipeError) for error in lost):
            raise NobodyReads
        if lost:
            raise MachineFailed(f"the program's output cannot be written: {lost[0].strerror}")
        return self.outcome(qemu.returncode, timed_out)

    def write_initrd(self, program):
        environ = environment(self.options, self.shape)
        with open(self.path('initrd'), 'wb') as out:
            with open(self.base, 'rb') as base:
                shutil.copyfileobj(base, out)
            out.write(b'\0' * (-out.tell() % 512))  # an initrd may be archives one after another
            out.write(initrd.job(self.options, program, environ, os.getcwd()))

    def command(self, pipes):
        options = self.options
        append = ' '.join(machine.KERNEL_ARGUMENTS + options.kernel_argument)
        out = [QEMU, *machine.arguments(self.shape, options.parallel),
               '-kernel', self.kernel.elf, '-initrd', self.path('initrd'), '-append', append,
               '-chardev', f"file,id=console,path={self.path('console.log')}", '-serial', 'chardev:console',
               '-device', 'virtio-serial-pci,max_ports=8',
               '-chardev', f"file,id=control,path={self.path('control')}"]
        for name, (number, (_, end)) in pipes.items():
            out += ['-add-fd', f'fd={end},set={number}',
                    '-chardev', f'file,id={name},path=/dev/fdset/{number},append=on']
        for name in ('out', 'err', 'control'):
            out += ['-device', f'virtserialport,chardev={name},name=numa_vm.{name}']
        if options.stdin:
            out += ['-chardev', 'stdio,id=in,signal=off', '-device', 'virtserialport,chardev=in,name=numa_vm.in']
        out += machine.shared_folder('/', 'root', writable=False)
        for i, folder in enumerate(options.writable):
            out += machine.shared_folder(os.path.abspath(folder), f'writable{i}', writable=True)
        if self.plugin:
            out += meter.arguments(self.plugin, self.shape, options, self.path('meter.log'))
        return out + options.qemu_argument

    def outcome(self, qemu_status, timed_out):
        control = last_lines(self.path('control'))
        if self.options.verbose:
            sys.stderr.write(last_lines(self.path('console.log')) + control)
        self.report_meter()
        ended = re.search(r'^EXIT (\d+)$', control, re.M)
        if ended:
            return int(ended[1])
        for name in ('qemu.log', 'console.log'):
            sys.stderr.write(last_lines(self.path(name)))
        if timed_out:
            doing = 'the program was running' if 'BOOTED' in control else 'the guest was still booting'
            raise TimedOut(f'--timeout: {self.options.timeout:g} s are over, {doing}')
        raise MachineFailed(f'the guest ended without an exit status (QEMU: {qemu_status})')

    def report_meter(self):
        log = self.path('meter.log')
        if not os.path.exists(log):
            return
        with open(log, errors='replace') as file:
            report = file.read()
        if not report:
            print('numa-vm: nothing was counted: the program passed no mark of <nigh/locality_mark.h>; '
                  'count everything with --meter-all', file=sys.stderr)
        if self.options.meter_file:
            with open(self.options.meter_file, 'w') as file:
                file.write(report)
        else:
            sys.stderr.write(report)


def check_tools():
    for tool, package in ((QEMU, 'qemu-system-x86'), ('setpriv', 'util-linux')):
        if not shutil.which(tool):
            raise MissingTool(f'no {tool}: apt-get install {package}')
