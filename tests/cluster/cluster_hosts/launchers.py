# SPDX-License-Identifier: Apache-2.0
"""The command line of each launcher, and which host has which ranks."""
import os
import shutil

HERE = os.path.dirname(os.path.realpath(__file__))
SSH = os.path.join(HERE, 'ssh')
RANK = os.path.join(HERE, 'rank')

# The programs that each needs besides `ip` and `nsenter`; of names separated by a bar, any one.
TOOLS = {
    'openmpi': ('mpirun.openmpi|mpirun',),
    'mpich': ('mpirun.mpich|mpirun',),
    'slurm-pmix': ('srun', 'slurmctld', 'slurmd', 'munged'),
    'slurm-pmi2': ('srun', 'slurmctld', 'slurmd', 'munged'),
}

# For ranks, with any launcher. Open MPI: TCP over the one interface there is, without the copy in shared memory whose
# one-sided operations crash on one host (vader). Root may launch them.
SETTINGS = {
    'OMPI_MCA_oob_tcp_if_include': 'eth0',
    'OMPI_MCA_btl_tcp_if_include': 'eth0',
    'OMPI_MCA_pml': 'ob1',
    'OMPI_MCA_btl': 'tcp,self,vader',
    'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'UCX_NET_DEVICES': 'eth0',
}


def settings(ranks):
    """More ranks than cpus yield where Open MPI would spin. Fewer do not: beside other programs a rank that yields
    each time that it looks for messages gets a hundredth of its cpu."""
    crowded = ranks > len(os.sched_getaffinity(0))
    return SETTINGS | {'OMPI_MCA_mpi_yield_when_idle': str(int(crowded))}


def found(names):
    """The path of the first of 'one|other' that is here; daemons lie where users' PATHs do not look."""
    path = os.environ.get('PATH', os.defpath) + ':/usr/sbin:/sbin'
    return next(filter(None, (shutil.which(name, path=path) for name in names.split('|'))), None)


def ranks_of_hosts(hosts, ranks):
    """How many ranks each host gets, first ones first; hosts that get none are left out."""
    shares = [ranks // hosts + (host < ranks % hosts) for host in range(hosts)]
    return {f'n{host + 1}': share for host, share in enumerate(shares) if share}


def openmpi(shares, ranks, extra, program):
    hosts = ','.join(f'{host}:{share}' for host, share in shares.items())
    return [found(TOOLS['openmpi'][0]), '--mca', 'plm_rsh_agent', SSH, '--mca', 'plm_rsh_no_tree_spawn', '1',
            '-H', hosts, '-n', str(ranks), '--map-by', 'slot', '--bind-to', 'none', *extra, RANK, *program]


def mpich(shares, ranks, extra, program):
    hosts = ','.join(f'{host}:{share}' for host, share in shares.items())
    return [found(TOOLS['mpich'][0]), '-launcher', 'ssh', '-launcher-exec', SSH, '-iface', 'eth0', '-hosts', hosts,
            '-n', str(ranks), *extra, RANK, *program]


def slurm(mpi):
    """Where ranks go is in the file that SLURM_HOSTFILE names."""
    def line(shares, ranks, extra, program):
        return [found('srun'), f'--mpi={mpi}', '--distribution=arbitrary', f'--nodes={len(shares)}',
                f'--ntasks={ranks}', *extra, RANK, *program]
    return line


LINES = {'openmpi': openmpi, 'mpich': mpich, 'slurm-pmix': slurm('pmix'), 'slurm-pmi2': slurm('pmi2')}
