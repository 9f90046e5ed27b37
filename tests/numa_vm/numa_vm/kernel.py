# SPDX-License-Identifier: Apache-2.0
"""A kernel with 9p, as an ELF image.

Debian's full kernel has what the guest needs (its cloud kernel lacks 9p). It is unpacked into the
cache, never installed: no boot loader, no initramfs hooks. The ELF image is started through PVH,
which halves the cost of a boot: neither the BIOS nor the decompressor runs under emulation.
"""
import dataclasses
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from numa_vm.errors import MachineFailed, MissingTool

DECOMPRESSORS = {
    b'\xfd7zXZ': ['xz', '-dc', '--single-stream'],
    b'\x1f\x8b': ['gzip', '-dc'],
    b'\x28\xb5\x2f\xfd': ['zstd', '-dcq'],
    b'\x02\x21\x4c\x18': ['lz4', '-dc'],
}
# Of the package's 470 MB, the image and the modules that a guest loads (see initrd.MODULES) with
# those they need: 20 MB.
KEPT = ['./boot/vmlinuz-*', './lib/modules/*/modules.*'] + [f'./lib/modules/*/kernel/{folder}/*' for folder in (
    'drivers/char', 'drivers/virtio', 'fs/9p', 'fs/fscache', 'fs/netfs', 'fs/overlayfs', 'net/9p')]
# Offsets into a bzImage, see the kernel's Documentation/x86/boot.rst.
SETUP_SECTORS = 0x1f1
PAYLOAD_OFFSET = 0x248


@dataclasses.dataclass(frozen=True)
class Kernel:
    elf: str
    modules: str  # folder
    release: str


def written_once(path, data):
    """Creates a file whole or not at all."""
    part = f'{path}.{os.getpid()}'
    with open(part, 'wb') as file:
        file.write(data)
    os.rename(part, path)


def find(cache, image=None):
    if image:
        return unpacked(cache, image, '/')
    pattern = 'boot/vmlinuz-*-amd64'
    for root in ('/', os.path.join(cache, 'kernel')):
        images = [i for i in sorted(glob.glob(os.path.join(root, pattern))) if 'cloud' not in i]
        if images:
            return unpacked(cache, images[-1], root)
    download(root)
    images = sorted(glob.glob(os.path.join(root, pattern)))
    if not images:
        raise MachineFailed(f'the kernel package held no {pattern}')
    return unpacked(cache, images[-1], root)


def download(root):
    """Into a folder beside `root` first, so that an interrupted download leaves nothing behind."""
    for tool in ('apt-get', 'apt-cache', 'dpkg'):
        if not shutil.which(tool):
            raise MissingTool(f'no {tool} to fetch a kernel with; name one with --kernel')
    print('numa-vm: fetching a kernel for the guest (once, 70 MB)', file=sys.stderr)
    os.makedirs(os.path.dirname(root), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(root)) as folder:
        os.chmod(folder, 0o755)
        if not download_package(folder):
            # The lists of packages may be missing or old; only root may renew them.
            subprocess.run(['apt-get', '-qq', 'update'], stdout=sys.stderr)
            if not download_package(folder):
                raise MachineFailed("apt-get could not download linux-image-amd64; run 'apt-get update' as root")
        tree = os.path.join(folder, 'tree')
        os.mkdir(tree)
        package = glob.glob(folder + '/*.deb')[0]
        with subprocess.Popen(['dpkg', '--fsys-tarfile', package], stdout=subprocess.PIPE) as tar:
            subprocess.run(['tar', '-x', '-C', tree, '--wildcards', *KEPT], stdin=tar.stdout, check=True)
        os.rename(tree, root)


def download_package(folder):
    depends = subprocess.run(['apt-cache', 'depends', 'linux-image-amd64'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    match = re.search(r'Depends: (linux-image-\S+)', depends.stdout)
    # apt's sandbox user cannot write to a folder of ours: root downloads as itself.
    command = ['apt-get', '-qq', '-o', 'APT::Sandbox::User=root', 'download']
    return match and not subprocess.run([*command, match[1]], cwd=folder, stdout=sys.stderr).returncode


def unpacked(cache, image, root):
    release = os.path.basename(image).removeprefix('vmlinuz-')
    modules = os.path.join(root, 'lib/modules', release)
    if not os.path.exists(modules + '/modules.dep'):
        depmod = shutil.which('depmod', path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
        if not depmod:
            raise MissingTool('no depmod: apt-get install kmod')
        subprocess.run([depmod, '-b', root, release], check=True)
    elf = os.path.join(cache, 'vmlinux-' + release)
    if not os.path.exists(elf) or os.path.getmtime(elf) < os.path.getmtime(image):
        with open(image, 'rb') as file:
            written_once(elf, elf_of(file.read(), image))
    return Kernel(elf, modules, release)


def elf_of(image, name):
    """The ELF image inside a bzImage."""
    offset, length = struct.unpack_from('<II', image, PAYLOAD_OFFSET)
    start = ((image[SETUP_SECTORS] or 4) + 1) * 512 + offset
    payload = image[start:start + length]
    for magic, command in DECOMPRESSORS.items():
        if payload.startswith(magic):
            if not shutil.which(command[0]):
                raise MissingTool(f'no {command[0]} to unpack {name}')
            # The payload ends with its size, which some decompressors call garbage: look at the result.
            elf = subprocess.run(command, input=payload, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL).stdout
            if elf.startswith(b'\x7fELF'):
                return elf
    raise MachineFailed(f'could not unpack {name}')
