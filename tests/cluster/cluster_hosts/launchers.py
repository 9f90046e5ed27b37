# SPDX-License-Identifier: Apache-2.0
"""The command line of each launcher, and which host has which ranks."""
import os
import shutil

HERE = os.path.dirname(os.path.realpath(__file__))
SSH = os.path.join(HERE, 'ssh')
RANK = os.path.join(HERE, 'rank')
# PyPI's Open MPI, in the virtual environment that scripts/setup.sh makes.
OPENMPI5 = os.path.normpath(os.path.join(HERE, '../../../build/mpi5/bin/mpirun'))

# The programs that each needs besides `ip` and `nsenter`; of names separated by a bar, any one.
TOOLS = {
    'openmpi': ('mpirun.openmpi|mpirun',),
    'openmpi5': (OPENMPI5,),
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
    'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'PRTE_ALLOW_RUN_AS_ROOT': '1',
    'PRTE_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'UCX_NET_DEVICES': 'eth0',
}
# Version 5 has another name for shared memory, and sessions say whether to use it (src/cluster/mpi/losses.hpp). Its windows over
# UCX complain where there is no UCX.
SETTINGS_OPENMPI5 = {
    'OMPI_MCA_btl_sm_single_copy_mechanism': 'none',
    'OMPI_MCA_osc': '^ucx',
}


def settings(ranks, launcher):
    """More ranks than cpus yield where Open MPI would spin: in its own calls, for sessions look for messages without yields."""
    crowded = ranks > len(os.sched_getaffinity(0))
    own = SETTINGS_OPENMPI5 if launcher == 'openmpi5' else {'OMPI_MCA_btl': 'tcp,self,vader'}
    return SETTINGS | own | {'OMPI_MCA_mpi_yield_when_idle': str(int(crowded))}


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


def openmpi5(shares, ranks, extra, program):
    """Version 5 has other daemons (PRRTE) with other settings. Ranks go on when one is lost."""
    hosts = ','.join(f'{host}:{share}' for host, share in shares.items())
    return [found(OPENMPI5), '--prtemca', 'plm_ssh_agent', SSH, '--prtemca', 'plm_ssh_no_tree_spawn', '1',
            '--prtemca', 'prte_if_include', 'eth0', '--with-ft', 'ulfm',
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


LINES = {'openmpi': openmpi, 'openmpi5': openmpi5, 'mpich': mpich, 'slurm-pmix': slurm('pmix'), 'slurm-pmi2': slurm('pmi2')}
