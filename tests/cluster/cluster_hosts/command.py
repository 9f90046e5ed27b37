# SPDX-License-Identifier: Apache-2.0
"""The command: reads its arguments, makes a world to work in, runs the job there, reports."""
import os
import signal
import sys

from cluster_hosts import launchers, options, slurm, system
from cluster_hosts.errors import HostsFailed, Missing, UsageError
from cluster_hosts.job import Job
from cluster_hosts.network import ROOT, TEMPORARY, Network
from cluster_hosts.report import Report

SIGNAL_GRACE = 5  # seconds for the inner process to report after a signal

# What launchers of a surrounding job would tell ours. Settings of Open MPI (OMPI_MCA_) are the user's.
FOREIGN = ('OMPI_COMM', 'OMPI_UNIVERSE', 'PMIX_', 'PMI_', 'HYDRA_', 'SLURM_', 'PRTE_')


def be_root_of_own_users():
    user, group = os.getuid(), os.getgid()
    system.unshare(system.NEW_USER)
    for name, text in (('setgroups', 'deny'), ('uid_map', f'0 {user} 1'), ('gid_map', f'0 {group} 1')):
        with open('/proc/self/' + name, 'w') as file:
            file.write(text)


def enter_world():
    try:
        if os.geteuid() != 0:
            be_root_of_own_users()
        system.unshare(system.NEW_PIDS | system.NEW_MOUNTS | system.NEW_NET | system.NEW_IPC)
    except OSError as error:
        raise Missing(f'no right to make namespaces ({error}): run as root') from None


def environment():
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            del os.environ[name]
    for name, value in launchers.SETTINGS.items():
        os.environ.setdefault(name, value)
    os.environ.update(TMPDIR=TEMPORARY, SLURM_HOSTFILE=ROOT + '/where')


def inside(chosen, json_file):
    """The first process of the new world; all others end with it."""
    environment()
    network = Network(chosen.hosts)
    daemons = slurm.start(chosen.hosts, chosen.ranks) if chosen.launcher.startswith('slurm') else ()

    def is_of_hosts(pid, name):
        return pid in network.pids.values() or name in daemons

    job = Job(chosen, network, is_of_hosts)
    job.run()
    report = Report(job)
    if json_file:
        json_file.write(report.as_json())
        json_file.flush()
    complaints = report.complaints()
    if chosen.verbose or complaints or report.status() != 0:
        for line in (*report.lines(), *complaints):
            print('hosts: ' + line, file=sys.stderr)
    return report.status()


def run_inside(chosen, json_file):
    """What the forked process does; never returns."""
    status = HostsFailed.status
    try:
        system.die_with_parent()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        status = inside(chosen, json_file)
    except SystemExit as exit_:
        status = exit_.code
    except (HostsFailed, Missing, UsageError) as error:
        print(f'hosts: {error}', file=sys.stderr)
        status = error.status
    except OSError as error:
        print(f'hosts: {error}', file=sys.stderr)
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait_outside(child):
    """Waits for the inner process, which a signal to us ends: softly, then surely."""
    def end(number, _):
        os.kill(child, number)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.alarm(SIGNAL_GRACE)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def main(arguments):
    try:
        chosen = options.parse(arguments)
        options.check_tools(chosen)
        try:
            json_file = open(chosen.json, 'w') if chosen.json else None
        except OSError as error:
            raise UsageError(f'--json {chosen.json}: {error.strerror}') from None
        enter_world()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            run_inside(chosen, json_file)
        return wait_outside(child)
    except (UsageError, Missing) as error:
        print(f'hosts: {error}', file=sys.stderr)
        # A test that is skipped for want of a tool is green; where that must not be, it fails.
        required = os.environ.get('NIGH_REQUIRE_HOSTS') == '1' and isinstance(error, Missing)
        return HostsFailed.status if required else error.status
