#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `hosts`: what it makes, what it does to ranks, and that nothing stays behind.
hosts_test.py HELLO: cluster_hello, built with Open MPI."""
import concurrent.futures
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from cluster_hosts import command, system, watch  # noqa: E402

HOSTS = HERE + '/hosts'
HELLO = sys.argv[1]


class Done:
    """One run, over."""

    def __init__(self, *options, program, timeout=100):
        with tempfile.NamedTemporaryFile() as told:
            done = subprocess.run([HOSTS, '--json', told.name, *options, '--', *program], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=timeout)
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
            text = told.read()
        if self.status == 77:
            print(self.err)
            os._exit(77)
        self.told = json.loads(text) if text else None

    def rank(self, number):
        return next(rank for rank in self.told['ranks'] if rank['rank'] == number)


def has_process(marker):
    for entry in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{entry}/cmdline') as file:
                if file.read().replace('\0', ' ').startswith(marker):
                    return True
        except OSError:
            pass  # ended meanwhile
    return False


class Hosts(unittest.TestCase):
    def test_ranks_are_spread_and_talk(self):
        done = Done('--hosts', '3', '--ranks', '4', program=[HELLO])
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(sorted(done.out.splitlines()), [
            'rank 0 of 4 on n1: sum 6', 'rank 1 of 4 on n1: sum 6', 'rank 2 of 4 on n2: sum 6',
            'rank 3 of 4 on n3: sum 6'])
        self.assertEqual(done.rank(2)['stdout'], 'rank 2 of 4 on n2: sum 6\n')
        self.assertEqual(done.told['left'], [])

    def test_each_host_has_its_own(self):
        """Ranks of two hosts leave files where a program would, and see only their own host's."""
        script = 'touch $TMPDIR/mine.$$ /dev/shm/mine.$$; sleep 0.3; echo $(ls $TMPDIR /dev/shm | grep -c mine)'
        done = Done('--hosts', '2', '--ranks', '3', program=['sh', '-c', script])
        self.assertEqual([done.rank(rank)['stdout'] for rank in range(3)], ['4\n', '4\n', '2\n'], done.err)

    def test_status_is_the_launchers(self):
        done = Done('--ranks', '1', program=['sh', '-c', 'echo broken >&2; exit 3'])
        self.assertEqual((done.status, done.rank(0)['end'], done.rank(0)['status']), (3, 'exit', 3), done.err)
        self.assertEqual(done.rank(0)['stderr'], 'broken\n')
        self.assertIn('hosts: rank 0 on n1: exit 3 after ', done.err)

    def test_runs_do_not_see_each_other(self):
        both = [subprocess.Popen([HOSTS, '--', HELLO, '1'], stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for one in both:
            out, _ = one.communicate(timeout=100)
            self.assertEqual((one.returncode, out.count(': sum 1\n')), (0, 2), out)


class Faults(unittest.TestCase):
    def test_killed(self):
        done = Done('--fault', 'kill:1:0', '--faults-after', 'sum', '--ends-within', '60', program=[HELLO, '50'])
        self.assertEqual((done.rank(1)['end'], done.rank(1)['status']), ('signal', 'SIGKILL'))
        # mpirun ends the others.
        self.assertEqual((done.status, done.rank(0)['end']), (0, 'signal'), done.err)

    def test_exits_in_the_midst_of_it(self):
        done = Done('--ranks', '1', '--fault', 'exit:0:0.1', program=['sleep', '1000'])
        self.assertEqual((done.rank(0)['end'], done.rank(0)['status']), ('exit', 0), done.err)

    def test_who_was_killed_cannot_exit(self):
        process = subprocess.Popen(['sleep', '100'])
        watch.seize(process.pid)
        watch.interrupt(process.pid)
        os.waitpid(process.pid, system.WAIT_FOR_ALL)
        process.kill()
        watch.call_exit(process.pid)
        self.assertEqual(process.wait(), -signal.SIGKILL)

    def test_stopped_and_its_launcher_hangs(self):
        options = ('--ranks', '1', '--fault', 'stop:0:0.1', '--grace', '0.3')
        done = Done(*options, program=['sleep', '1000'])
        self.assertEqual((done.status, done.rank(0)['end'], done.told['launcher']['hung']), (1, 'stopped', True))
        self.assertEqual(done.told['complaints'], ['the launcher hangs'])
        self.assertEqual(Done(*options, '--keep-going', program=['sleep', '1000']).status, 0)

    def test_a_pause_is_survived(self):
        done = Done('--fault', 'stop:1:0', '--fault', 'continue:1:0.7', '--faults-after', 'sum', program=[HELLO, '1'])
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(slowest_sum(done), 0.6)

    def test_cut_and_mended(self):
        def after(kind):
            return Done('--fault', f'{kind}:n2:0', '--fault', 'link-up:n2:0.7', '--faults-after', 'sum',
                        program=[HELLO, '1'])
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for done in threads.map(after, ('cut', 'link-down')):
                self.assertEqual(done.status, 0, done.err)
                self.assertGreater(slowest_sum(done), 0.6)

    def test_who_does_not_end_is_named(self):
        done = Done('--fault', 'cut:n2:0', '--ends-within', '0.5', program=['sleep', '1000'])
        self.assertEqual(done.status, 1)
        self.assertEqual(done.told['complaints'], ['rank 0 has not ended', 'rank 1 has not ended'])

    def test_what_never_came_is_told(self):
        done = Done('--ranks', '1', '--fault', 'kill:0:50', program=['true'])
        self.assertEqual((done.status, done.told['complaints']), (1, ['the job was over before: kill rank 0 after 50 s']))


def slowest_sum(done):
    return float(done.out.rpartition('slowest sum: ')[2].split()[0])


class NothingStays(unittest.TestCase):
    def test_what_a_rank_left_behind_is_told_and_ended(self):
        marker = f'sleep 1000.{os.getpid()}'
        done = Done('--ranks', '1', '--grace', '0.3', program=['sh', '-c', f'setsid {marker} & sleep 0.1'])
        self.assertEqual((done.status, done.told['complaints']), (1, ['left behind: ' + marker]), done.err)
        self.assertFalse(has_process(marker))

    def test_shared_memory_that_a_rank_left_behind_is_told(self):
        done = Done('--ranks', '2', '--grace', '0.3', program=['sh', '-c', 'test $(hostname) = n1 || touch /dev/shm/sm_segment.1'])
        self.assertEqual((done.status, done.told['segments']), (0, [{'host': 'n2', 'name': 'sm_segment.1'}]), done.err)

    def test_timeout(self):
        marker = f'sleep 2000.{os.getpid()}'
        done = Done('--timeout', '4', program=marker.split())  # its ranks have begun by then, on a busy host, too
        self.assertEqual((done.status, done.rank(0)['end'], done.told['timed_out']), (124, 'running', True), done.err)
        self.assertFalse(has_process(marker))

    def test_signals(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)):
            marker = f'sleep 3000.{os.getpid()}{number}'
            one = subprocess.Popen([HOSTS, '--', 'sh', '-c', f'echo here; exec {marker}'], stdout=subprocess.PIPE)
            self.assertEqual(one.stdout.readline(), b'here\n')
            while not has_process(marker):  # the shell may still be on its way to become it
                time.sleep(0.01)
            one.send_signal(number)
            self.assertEqual(one.wait(timeout=60), status)
            until = time.monotonic() + 60
            while has_process(marker) and time.monotonic() < until:
                time.sleep(0.01)
            self.assertFalse(has_process(marker))
            one.stdout.close()


class WrongArguments(unittest.TestCase):
    CASES = [
        ([], 'hosts: the program comes after --; see hosts --help'),
        (['--', '/no/such'], 'hosts: /no/such: no such program'),
        (['--hosts', '0', '--', 'true'], 'hosts: --hosts 0: from 1 to 16'),
        (['--ranks', '1000', '--', 'true'], 'hosts: --ranks 1000: from 1 to 256'),
        (['--ranks', 'x', '--', 'true'], "hosts: argument --ranks: 'x' is no whole number"),
        (['--timeout', '-1', '--', 'true'], "hosts: argument --timeout: '-1' is no number of seconds"),
        (['--launcher', 'lam', '--', 'true'], 'hosts: argument --launcher: invalid choice: '
         "'lam' (choose from 'openmpi', 'openmpi5', 'mpich', 'slurm-pmix', 'slurm-pmi2')"),
        (['--fault', 'kill:1', '--', 'true'],
         "hosts: --fault: 'kill:1' is not KIND:RANK:SECONDS or KIND:HOST:SECONDS with KIND one of "
         'kill, stop, continue, exit, link-down, link-up, cut'),
        (['--fault', 'kill:2:1', '--', 'true'], "hosts: --fault: 'kill:2:1': there is no rank 2; there are 2, from 0"),
        (['--fault', 'cut:n3:1', '--', 'true'],
         "hosts: --fault: 'cut:n3:1': there is no host n3; there are 2, from n1"),
        (['--fault', 'kill:one:1', '--', 'true'], "hosts: --fault: 'kill:one:1': 'one' or '1' is no number"),
        (['--fault', 'kill:1:nan', '--', 'true'], "hosts: --fault: 'kill:1:nan': 'nan' is no time to wait"),
        (['--ends-within', '3', '--', 'true'], 'hosts: --ends-within: there is no --fault'),
        (['--json', '/no/such/file', '--', 'true'], 'hosts: --json /no/such/file: No such file or directory'),
    ]

    def test_each_is_named(self):
        for arguments, said in self.CASES:
            error = io.StringIO()
            with contextlib.redirect_stderr(error):
                status = command.main(arguments)
            self.assertEqual((status, error.getvalue()), (2, said + '\n'), arguments)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
