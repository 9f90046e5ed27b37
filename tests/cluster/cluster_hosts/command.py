# SPDX-License-Identifier: Apache-2.0
"""The command: reads its arguments, makes a world to work in, runs the job there, reports."""
import os
import signal
import sys
import traceback

from arguments import UsageError
from cluster_hosts import launchers, options, slurm, system
from cluster_hosts.errors import BadStart, HostsFailed, Missing
from cluster_hosts.job import Job
from cluster_hosts.network import ROOT, TEMPORARY, Network
from cluster_hosts.report import Report

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STARTS = 3  # after as many bad ones it is no bad luck
SIGNAL_GRACE = 5  # seconds for the inner process to report after a signal

# The variables by which launchers of a surrounding job would reach ours. Settings of Open MPI (OMPI_MCA_) are the
# user's.
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


def environment(ranks, launcher):
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            del os.environ[name]
    for name, value in launchers.settings(ranks, launcher).items():
        os.environ.setdefault(name, value)
    os.environ.update(TMPDIR=TEMPORARY, SLURM_HOSTFILE=ROOT + '/where')


def inside(chosen, json_file):
    """The first process of the new world; all others end with it."""
    environment(chosen.ranks, chosen.launcher)
    network = Network(chosen.hosts)
    daemons = slurm.start(chosen.hosts, chosen.ranks) if chosen.launcher.startswith('slurm') else ()

    def is_of_hosts(pid, name):
        return pid in network.pids.values() or name in daemons

    job = Job(chosen, network, is_of_hosts)
    job.run()
    if job.crashed_at_start():
        raise BadStart('a rank crashed in MPI_Init, as Open MPI does under srun now and then')
    report = Report(job)
    if json_file:
        json_file.write(report.as_json())
        json_file.flush()
    complaints = report.complaints()
    if chosen.verbose or complaints or report.status() != 0:
        for line in (*report.lines(), *complaints):
            print('hosts: ' + line, file=sys.stderr)
    return report.status()


def guarded(do, *arguments):
    """What `do` returns, or the status of what it complained about."""
    try:
        return do(*arguments)
    except SystemExit as exit_:
        return exit_.code
    except (UsageError, Missing, HostsFailed) as error:
        print(f'hosts: {error}', file=sys.stderr)
        # A test that is skipped for want of a tool is green; where that must not be, it fails.
        required = os.environ.get('NIGH_REQUIRE_HOSTS') == '1' and isinstance(error, Missing)
        return HostsFailed.status if required else error.status
    except Exception:
        traceback.print_exc()
        return HostsFailed.status


def in_child(do, *arguments):
    """Does it in a child, which ends when we do; returns its exit status."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = HostsFailed.status
        try:
            system.die_with_parent()
            status = guarded(do, *arguments)
            sys.stdout.flush()
        finally:
            os._exit(status)
    return wait_outside(child)


def first_process(chosen, json_file):
    for number in SIGNALS:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    return inside(chosen, json_file)


def world(chosen, json_file):
    enter_world()
    return in_child(first_process, chosen, json_file)


def wait_outside(child):
    """Waits for the inner process, which a signal to us ends: softly, then surely."""
    def end(number, _):
        os.kill(child, number)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.alarm(SIGNAL_GRACE)

    for number in SIGNALS:
        signal.signal(number, end)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def run(arguments):
    chosen = options.parse(arguments)
    options.check_tools(chosen)
    try:
        json_file = open(chosen.json, 'w') if chosen.json else None
    except OSError as error:
        raise UsageError(f'--json {chosen.json}: {error.strerror}') from None
    for _ in range(STARTS):
        status = in_child(world, chosen, json_file)
        if status != BadStart.status:
            break
    return status


def main(arguments):
    return guarded(run, arguments)
