# SPDX-License-Identifier: Apache-2.0
"""A Slurm of our own: its controller on n1, a daemon on each host, and what they trust each other by."""
import os
import subprocess
import time

from cluster_hosts import launchers
from cluster_hosts.errors import BadStart
from cluster_hosts.network import TEMPORARY, address, on_host

FOLDER = '/run/slurm'
MUNGE = '/run/munge'
DAEMONS = ('munged', 'slurmctld', 'slurmscriptd', 'slurmd')
PATIENCE = 20  # seconds for all of them to be there


def configuration(hosts, ranks):
    """slurm.conf. Every host has as many cpus as ranks, which is a matter of Slurm's books only."""
    nodes = '\n'.join(f'NodeName=n{host} NodeAddr={address(host)} CPUs={ranks}' for host in range(1, hosts + 1))
    return f"""\
ClusterName=hosts
SlurmctldHost=n1({address(1)})
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/spool.%n
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/slurmd.%n.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdLogFile={FOLDER}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
TopologyPlugin=topology/tree
{nodes}
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 State=UP
"""


def switches(hosts):
    """topology.conf: two hosts on each switch, as far as there are, and all switches on another."""
    pairs = [range(first, min(first + 2, hosts + 1)) for first in range(1, hosts + 1, 2)]
    leaves = [f'SwitchName=s{number} Nodes={",".join(f"n{host}" for host in pair)}'
              for number, pair in enumerate(pairs, 1)]
    core = 'SwitchName=core Switches=' + ','.join(f's{number}' for number in range(1, len(pairs) + 1))
    return '\n'.join([*leaves, core, ''])


def write(name, text):
    with open(f'{FOLDER}/{name}', 'w') as file:
        file.write(text)


def quietly(words):
    """Starts a daemon, its output in a file beside its configuration."""
    with open(f'{FOLDER}/daemons.log', 'a') as log:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def start_munge():
    os.makedirs(MUNGE, 0o755)
    with open(MUNGE + '/key', 'wb', opener=lambda path, flags: os.open(path, flags, 0o400)) as key:
        key.write(os.urandom(128))
    files = {'socket': 'munge.socket.2', 'key-file': 'key', 'log-file': 'log', 'pid-file': 'pid', 'seed-file': 'seed'}
    quietly(on_host(1, [launchers.found('munged'), '--foreground',
                        *(f'--{name}={MUNGE}/{file}' for name, file in files.items())]))


def wait_until(is_there, what):
    until = time.monotonic() + PATIENCE
    while not is_there():
        if time.monotonic() > until:
            raise BadStart(f'{what} after {PATIENCE} s{said()}')
        time.sleep(0.05)


def said():
    """The last lines of each log."""
    text = ''
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith('.log'):
            with open(f'{FOLDER}/{name}', errors='replace') as file:
                text += f'\n{name}: ' + '\n    '.join(file.read().splitlines()[-12:])
    return text


def is_up(count):
    states = subprocess.run(on_host(1, [launchers.found('sinfo'), '--noheader', '--Node', '--format=%t']),
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split()
    return states == ['idle'] * count


def start(hosts, ranks):
    """The names of the daemons, once jobs may come."""
    os.makedirs(FOLDER + '/state')
    write('slurm.conf', configuration(hosts, ranks))
    write('topology.conf', switches(hosts))
    write('cgroup.conf', 'CgroupPlugin=cgroup/v1\n')
    write('mpi.conf', f'PMIxCliTmpDirBase={TEMPORARY}\n')
    os.environ['SLURM_CONF'] = FOLDER + '/slurm.conf'
    start_munge()
    wait_until(lambda: os.path.exists(MUNGE + '/munge.socket.2'), 'munged does not answer')
    quietly(on_host(1, [launchers.found('slurmctld'), '-D']))
    for host in range(1, hosts + 1):
        os.mkdir(f'{FOLDER}/spool.n{host}')
        quietly(on_host(host, [launchers.found('slurmd'), '-D', '-N', f'n{host}']))
    wait_until(lambda: is_up(hosts), 'Slurm does not know all hosts')
    return DAEMONS
