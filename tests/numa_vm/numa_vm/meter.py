# SPDX-License-Identifier: Apache-2.0
"""The locality meter: builds QEMU's plugin at first use, and says how to start it."""
import os
import shutil
import subprocess

from numa_vm.errors import MachineFailed, MissingTool

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), 'locality_meter.c')


def built(cache):
    plugin = os.path.join(cache, 'locality_meter.so')
    if os.path.exists(plugin) and os.path.getmtime(plugin) >= os.path.getmtime(SOURCE):
        return plugin
    compiler = os.environ.get('CC') or shutil.which('cc')
    if not compiler:
        raise MissingTool('no C compiler for the locality meter: apt-get install gcc')
    part = f'{plugin}.{os.getpid()}'
    command = [compiler, '-std=gnu11', '-O2', '-shared', '-fPIC', '-fvisibility=hidden', '-o', part, SOURCE]
    if subprocess.run(command).returncode:
        raise MachineFailed('the locality meter does not compile')
    os.rename(part, plugin)
    return plugin


def arguments(plugin, shape, options, log):
    settings = [plugin, f'cpus={shape.cpus_per_node}', 'memory=' + ':'.join(str(m) for m in shape.memory_mib)]
    if options.meter_cache:
        settings.append(f'cache={options.meter_cache}')
    if options.meter_all:
        settings.append('all=on')
    return ['-plugin', ','.join(settings), '-d', 'plugin', '-D', log]
