#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program in the guest sees, and what comes back from it. `guest_test.py short` boots twice."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
NUMA_VM = HERE + '/numa-vm'
ROOT = os.path.dirname(os.path.dirname(HERE))


def numa_vm(*arguments, program=('true',), **how):
    command = [NUMA_VM, '--nodes', '2', '--cores', '1', '--timeout', '600', *arguments, '--', *program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
    if done.returncode == 77:
        sys.stderr.write(done.stderr)
        os._exit(77)
    return done


def setUpModule():
    numa_vm()  # the first one on a host fetches a kernel, and says so


class Short(unittest.TestCase):
    def test_output_status_folder_environment_input_and_files(self):
        script = '''
            echo "out $FLAVOUR $(pwd) $(cat)"
            echo "nodes $(ls -d /sys/devices/system/node/node* | wc -l)" >&2
            echo kept > kept/file
            echo lost > lost
            [ -e lost ] && exit 42'''
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + '/kept')
            done = numa_vm('--env', 'FLAVOUR=sour cherry', '--stdin', '--writable', folder + '/kept', '--memory-only', '1',
                           program=['sh', '-c', script], cwd=folder, input='words from outside')
            self.assertEqual(done.stdout, f'out sour cherry {folder} words from outside\n')
            self.assertEqual(done.stderr, 'nodes 3\n')
            self.assertEqual(done.returncode, 42)
            with open(folder + '/kept/file') as file:
                self.assertEqual(file.read(), 'kept\n')
            self.assertFalse(os.path.exists(folder + '/lost'))


class Full(unittest.TestCase):
    def test_killed_program_is_128_and_the_signal(self):
        self.assertEqual(numa_vm(program=['sh', '-c', 'kill -9 $$']).returncode, 137)

    def test_timeout_is_124_and_says_where(self):
        done = numa_vm('--timeout', '45', program=['sleep', '1000'])
        self.assertEqual(done.returncode, 124)
        self.assertIn('--timeout: 45 s are over', done.stderr)

    def test_failing_setup_is_125_and_the_program_does_not_run(self):
        done = numa_vm('--setup', 'false', program=['echo', 'ran'])
        self.assertEqual((done.returncode, done.stdout), (125, ''))
        self.assertIn('--setup failed', done.stderr)

    def test_panic_is_125(self):
        done = numa_vm('--setup', 'echo c > /proc/sysrq-trigger')
        self.assertEqual(done.returncode, 125)
        self.assertIn('ended without an exit status', done.stderr)

    def test_user_and_cgroup(self):
        script = 'id -u; id -g; grep -o "allowed_list:.*" /proc/self/status'
        done = numa_vm('--user', '1000:1001', '--cpuset', '1', '--mems', '0', program=['sh', '-c', script])
        self.assertEqual(done.stdout.split(), ['1000', '1001', 'allowed_list:', '1', 'allowed_list:', '0'])

    def test_cpus_emulated_in_parallel(self):
        self.assertEqual(numa_vm('--parallel', program=['nproc']).stdout, '2\n')

    def test_example_of_the_manual_counts_what_docs_numa_vm_md_says(self):
        with tempfile.TemporaryDirectory() as folder:
            program = folder + '/first_touch'
            subprocess.run(['cc', '-O2', '-fopenmp', '-I', ROOT + '/include', '-o', program,
                            ROOT + '/docs/examples/first_touch.c'], check=True)
            for how, remote in (('serial', 3145728), ('parallel', 6)):
                done = numa_vm('--nodes', '4', '--cores', '2', '--huge-pages', 'never', '--env', 'OMP_PROC_BIND=close',
                               '--meter', program=[program, how])
                self.assertEqual(done.returncode, 0)
                self.assertIn(f'accesses=4194304 loads=4194304 stores=0 remote={remote} ', done.stderr)

    def test_meter_says_when_there_was_no_mark(self):
        self.assertIn('passed no mark', numa_vm('--meter').stderr)
        self.assertIn('range=all', numa_vm('--meter', '--meter-all').stderr)

    def test_much_output_arrives_whole(self):
        self.assertEqual(len(numa_vm(program=['seq', '200000']).stdout.splitlines()), 200000)


if __name__ == '__main__':
    suite = [] if sys.argv[1:] != ['short'] else ['Short']
    unittest.main(argv=sys.argv[:1] + suite, verbosity=2)
