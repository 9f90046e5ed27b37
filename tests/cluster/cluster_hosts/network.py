# SPDX-License-Identifier: Apache-2.0
"""Hosts: a process that keeps namespaces of its own alive, for each; and a switch in the tool's."""
import os
import shlex
import signal
import socket
import subprocess

from cluster_hosts import launchers, system
from cluster_hosts.errors import HostsFailed

ROOT = '/run/hosts'
TEMPORARY = '/run/node'  # of each host its own


def address(host):
    return f'10.77.0.{host}'


def ip(*lines, within=None):
    """Does a batch of commands of `ip`, in the namespace of a process if one is given."""
    enter = ['nsenter', '--target', str(within), '--net'] if within else []
    done = subprocess.run([*enter, launchers.found('ip'), '-batch', '-'], input='\n'.join(lines) + '\n',
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise HostsFailed(f'ip: {done.stdout.strip()}; wanted: {"; ".join(lines)}')


def own_run():
    """A /run of our own, and an /etc/hosts that knows the hosts."""
    system.mount('none', '/', flags=system.RECURSIVE | system.PRIVATE)
    system.mount('proc', '/proc', 'proc')
    system.mount('hosts', '/run', 'tmpfs')
    os.makedirs(ROOT + '/ranks')
    os.mkdir(TEMPORARY)


def write_names(hosts):
    with open(ROOT + '/names', 'w') as file:
        file.write('127.0.0.1 localhost\n')
        file.writelines(f'{address(host)} n{host}\n' for host in range(1, hosts + 1))
    system.mount(ROOT + '/names', '/etc/hosts', flags=system.BIND)


def keep_host(name, ready):
    """What a host's first process does, for ever."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        system.unshare(system.NEW_NET | system.NEW_UTS | system.NEW_IPC | system.NEW_MOUNTS)
        socket.sethostname(name)
        for folder in ('/dev/shm', TEMPORARY):
            system.mount(name, folder, 'tmpfs')
        os.write(ready, b'+')
        os.close(ready)
        while True:
            signal.pause()
    finally:
        os._exit(1)


class Network:
    def __init__(self, hosts):
        own_run()
        write_names(hosts)
        ip('link set lo up', 'link add switch type bridge', 'link set switch up')
        self.pids = {}
        for host in range(1, hosts + 1):
            self.pids[host] = self.add(host)

    def add(self, host):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            keep_host(f'n{host}', writing)
        os.close(writing)
        with os.fdopen(reading) as ready:
            if not ready.read():
                raise HostsFailed(f'host n{host} could not be made')
        ip(f'link add n{host} type veth peer name eth0 netns {pid}', f'link set n{host} master switch up')
        ip('link set lo up', f'addr add {address(host)}/24 dev eth0', 'link set eth0 up', within=pid)
        with open(f'{ROOT}/pid.n{host}', 'w') as file:
            file.write(str(pid))
        return pid

    def hurt(self, fault):
        port = f'link set n{fault.target}'
        ip({'link-down': f'{port} down', 'cut': f'{port} nomaster', 'link-up': f'{port} master switch up'}[fault.kind])

    def segments(self):
        """(host, file) of all shared memory that has a name."""
        return sorted((host, name) for host, pid in self.pids.items() for name in os.listdir(f'/proc/{pid}/root/dev/shm'))


def on_host(host, words):
    """The command line that does `words` on a host."""
    return [launchers.SSH, f'n{host}', 'exec ' + shlex.join(words)]
