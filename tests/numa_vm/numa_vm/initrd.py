# SPDX-License-Identifier: Apache-2.0
"""What the guest's kernel starts with: busybox, the modules it needs, and the job."""
import hashlib
import lzma
import os
import re
import shlex
import shutil

from numa_vm.errors import MachineFailed, MissingTool
from numa_vm.kernel import written_once

INIT = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), 'guest-init.sh')
MODULES = ['virtio_pci', 'virtio_console', 'overlay', '9p', '9pnet_virtio']
APPLETS = ('sh mount insmod mkdir cat echo chroot poweroff ln cp grep dmesg tail ip').split()
FOLDERS = ('bin', 'm', 'proc', 'sys', 'dev', 'lower', 'upper', 'newroot', 'job')

DIRECTORY, FILE, PROGRAM, LINK = 0o40755, 0o100644, 0o100755, 0o120777


def cpio(entries):
    """(name, mode, data) of each file -> an archive in the kernel's "newc" format."""
    out = bytearray()
    for i, (name, mode, data) in enumerate([*entries, ('TRAILER!!!', 0, b'')]):
        encoded = name.encode() + b'\0'
        #         inode  mode  uid gid links mtime size       device numbers  name's length  check
        fields = (i + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        out += b'070701' + b''.join(b'%08X' % field for field in fields) + encoded
        out += b'\0' * (-len(out) % 4) + data
        out += b'\0' * (-len(out) % 4)
    return bytes(out)


def module_name(path):
    return re.sub(r'\.ko.*$', '', os.path.basename(path))


def load_order(dependencies, wanted):
    """modules.dep's lines -> paths, each after those it needs. Built-in modules are not listed there."""
    needs = {}
    for line in dependencies:
        path, _, rest = line.partition(':')
        needs[module_name(path)] = (path, rest.split())
    order = []

    def add(name):
        path, below = needs[name]
        for other in below:
            add(module_name(other))
        if path not in order:
            order.append(path)

    for name in wanted:
        if name in needs:
            add(name)
    return order


def base(cache, kernel):
    """The part that is the same for every job, made once for a kernel; returns its path."""
    busybox = shutil.which('busybox')
    if not busybox:
        raise MissingTool('no busybox: apt-get install busybox-static')
    with open(os.path.join(kernel.modules, 'modules.dep')) as file:
        order = load_order(file, MODULES)
    parts = [(name, DIRECTORY, b'') for name in FOLDERS]
    with open(busybox, 'rb') as file:
        parts.append(('bin/busybox', PROGRAM, file.read()))
    parts += [('bin/' + applet, LINK, b'busybox') for applet in APPLETS]
    for i, path in enumerate(order):
        with open(os.path.join(kernel.modules, path), 'rb') as file:
            data = file.read()
        if path.endswith('.xz'):
            data = lzma.decompress(data)
        elif not path.endswith('.ko'):
            raise MachineFailed(f'module {path} is compressed in a way that is not known here')
        parts.append((f'm/{i:02}-{module_name(path)}.ko', FILE, data))
    with open(INIT, 'rb') as file:
        parts.append(('init', PROGRAM, file.read()))
    archive = cpio(parts)
    path = os.path.join(cache, f'base-{hashlib.sha256(archive).hexdigest()[:16]}.cpio')
    if not os.path.exists(path):
        written_once(path, archive)
    return path


def job(options, program, environment, folder):
    """What is to be done in the guest this time, as files that guest-init.sh reads."""
    config = {
        'writable': ' '.join(os.path.abspath(d) for d in options.writable),
        'offline': ' '.join(str(cpu) for cpu in options.offline),
        'numa_balancing': int(options.numa_balancing),
        'huge_pages': options.huge_pages or '',
        'cpuset': options.cpuset or '',
        'mems': options.mems or '',
    }
    run = [f'cd {shlex.quote(folder)} || exit 125']
    run += [f'export {name}={shlex.quote(value)}' for name, value in environment.items()]
    user = ''
    if options.user:
        uid, _, gid = options.user.partition(':')
        user = shlex.join(['setpriv', f'--reuid={uid}', f'--regid={gid or uid}', '--clear-groups', ''])[:-2]
    run.append(f'exec {user}{shlex.join(program)}')
    lines = [f'{name}={shlex.quote(str(value))}' for name, value in config.items()]
    return cpio([
        ('job', DIRECTORY, b''),
        ('job/config', FILE, text(lines)),
        ('job/setup', FILE, text(options.setup)),
        ('job/run', FILE, text(run)),
    ])


def text(lines):
    return ''.join(line + '\n' for line in lines).encode()
