#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numa-vm without QEMU: machines as values, archives, arguments and what is said about wrong ones."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import threading
import types
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from arguments import UsageError  # noqa: E402
from numa_vm import command, guest, initrd, machine, options  # noqa: E402
from numa_vm.shape import PATTERNS, distance_matrix, make_shape  # noqa: E402


class Distances(unittest.TestCase):
    def test_patterns_are_symmetric_and_10_at_home(self):
        for name in PATTERNS:
            for n in range(1, 9):
                matrix = distance_matrix(name, n)
                for i in range(n):
                    self.assertEqual(matrix[i][i], 10)
                    for j in range(n):
                        self.assertEqual(matrix[i][j], matrix[j][i], name)
                        self.assertTrue(i == j or 10 < matrix[i][j] < 255, name)

    def test_ring_of_four(self):
        self.assertEqual(distance_matrix('ring', 4)[0], (10, 16, 21, 16))

    def test_ring_closes(self):
        self.assertEqual(distance_matrix('ring', 8)[0][7], distance_matrix('ring', 8)[0][1])

    def test_rows_may_be_asymmetric(self):
        self.assertEqual(distance_matrix('10,20/30,10', 2), ((10, 20), (30, 10)))


class Shapes(unittest.TestCase):
    def test_one_size_is_for_every_node_memory_only_ones_included(self):
        self.assertEqual(make_shape(2, 2, memory_only=1, memory='1G').memory_mib, (1024, 1024, 1024))

    def test_cpus(self):
        self.assertEqual(make_shape(4, 2, threads=2).cpus, 16)


class QemuArguments(unittest.TestCase):
    def nodes(self, **shape):
        arguments = machine.arguments(make_shape(**shape))
        return [a for a in arguments if a.startswith('node,')]

    def test_cpus_are_numbered_node_by_node(self):
        self.assertEqual(self.nodes(nodes=2, cores=2, threads=2),
                         ['node,nodeid=0,memdev=memory0,cpus=0-3', 'node,nodeid=1,memdev=memory1,cpus=4-7'])

    def test_memory_only_node_has_no_cpus(self):
        self.assertEqual(self.nodes(nodes=1, cores=1, memory_only=1)[1], 'node,nodeid=1,memdev=memory1')

    def test_memoryless_node_has_no_memory(self):
        self.assertEqual(self.nodes(nodes=2, cores=1, memory='512M,0')[1], 'node,nodeid=1,cpus=1-1')

    def test_every_pair_has_a_distance(self):
        arguments = machine.arguments(make_shape(3, 1, distances='line'))
        self.assertEqual(sum(a.startswith('dist,') for a in arguments), 9)
        self.assertIn('dist,src=0,dst=2,val=30', arguments)

    def test_sockets_hold_several_nodes(self):
        arguments = machine.arguments(make_shape(4, 2, threads=2, nodes_per_socket=2))
        self.assertIn('16,sockets=2,cores=4,threads=2', arguments)

    def test_hmat_names_the_initiator_of_memory_only_nodes(self):
        arguments = machine.arguments(make_shape(2, 1, memory_only=1, hmat=True))
        self.assertIn('node,nodeid=2,memdev=memory2,initiator=0', arguments)


class Pump(unittest.TestCase):
    def test_reads_on_where_nobody_reads_what_it_writes(self):
        source, of_guest = os.pipe()
        nobody, target = os.pipe()
        os.close(nobody)
        errors = []
        thread = threading.Thread(target=guest.pump, args=(source, target, lambda: None, errors.append))
        thread.start()
        for _ in range(40):
            os.write(of_guest, b'.' * 65536)  # would wait for ever
        os.close(of_guest)
        thread.join()
        os.close(target)
        self.assertEqual([type(error) for error in errors], [BrokenPipeError])


class Archive(unittest.TestCase):
    def test_busybox_reads_what_cpio_writes(self):
        files = [('d', initrd.DIRECTORY, b''), ('d/odd', initrd.FILE, b'12345'), ('d/empty', initrd.PROGRAM, b'')]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['busybox', 'cpio', '-i'], input=initrd.cpio(files), cwd=folder, check=True,
                           stderr=subprocess.DEVNULL)
            with open(folder + '/d/odd', 'rb') as file:
                self.assertEqual(file.read(), b'12345')
            self.assertTrue(os.access(folder + '/d/empty', os.X_OK))

    def test_parts_are_aligned(self):
        for length in range(9):
            self.assertEqual(len(initrd.cpio([('n', initrd.FILE, b'x' * length)])) % 4, 0)

    def test_modules_come_after_those_they_need(self):
        lines = ['k/9p.ko.xz: k/9pnet.ko.xz k/netfs.ko.xz', 'k/9pnet.ko.xz:', 'k/netfs.ko.xz: k/9pnet.ko.xz']
        self.assertEqual(initrd.load_order(lines, ['9p', 'built_in']),
                         ['k/9pnet.ko.xz', 'k/netfs.ko.xz', 'k/9p.ko.xz'])

    def test_arguments_reach_the_program_unchanged(self):
        chosen = types.SimpleNamespace(writable=[], offline=[], numa_balancing=False, huge_pages=None, cpuset=None, mems=None,
                                       user=None, setup=[])
        program = ['printf', '%s|', "it's", '$HOME', 'a b', '']
        job = initrd.job(chosen, program, {'X': "a'b c"}, '/')
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['busybox', 'cpio', '-i'], input=job, cwd=folder, check=True, stderr=subprocess.DEVNULL)
            out = subprocess.run(['sh', folder + '/job/run'], stdout=subprocess.PIPE, check=True)
        self.assertEqual(out.stdout, b"it's|$HOME|a b||")


class Environment(unittest.TestCase):
    def test_little_is_passed_on(self):
        os.environ['NIGH_SAMPLE'], os.environ['SECRET_SAMPLE'] = '1', '2'
        environ = guest.environment(types.SimpleNamespace(env=['A=b=c']), make_shape(4, 2))
        self.assertEqual(environ['NIGH_SAMPLE'], '1')
        self.assertEqual(environ['A'], 'b=c')
        self.assertEqual(environ['NUMA_VM'], '4x2')
        self.assertNotIn('SECRET_SAMPLE', environ)


class WrongArguments(unittest.TestCase):
    CASES = [
        (['--nodes', '0', '--', 'true'], '--nodes'),
        (['--nodes', '-3', '--', 'true'], '--nodes'),
        (['--nodes', 'two', '--', 'true'], '--nodes'),
        (['--nodes', '99', '--', 'true'], '--nodes'),
        (['--cores', '0', '--', 'true'], '--cores'),
        (['--nodes', '16', '--cores', '16', '--', 'true'], '--cores'),
        (['--threads', '0', '--', 'true'], '--threads'),
        (['--nodes', '3', '--nodes-per-socket', '2', '--', 'true'], '--nodes-per-socket'),
        (['--memory-only', '-1', '--', 'true'], '--memory-only'),
        (['--memory', '1K', '--', 'true'], '--memory'),
        (['--memory', '1G,1G,1G', '--', 'true'], '--memory'),
        (['--memory', '0', '--', 'true'], '--memory'),
        (['--memory', '1M', '--', 'true'], '--memory'),
        (['--distances', 'star', '--', 'true'], '--distances'),
        (['--distances', '10,20', '--', 'true'], '--distances'),
        (['--distances', '11,20/20,10', '--', 'true'], '--distances'),
        (['--distances', '10,300/20,10', '--', 'true'], '--distances'),
        (['--timeout', '0', '--', 'true'], '--timeout'),
        (['--timeout', 'nan', '--', 'true'], '--timeout'),
        (['--writable', '/no/such', '--', 'true'], '--writable'),
        (['--kernel', '/no/such', '--', 'true'], '--kernel'),
        (['--kernel', '/no/vmlinuz-6', '--', 'true'], '--kernel'),
        (['--cpuset', '0-x', '--', 'true'], '--cpuset'),
        (['--cpuset', '4', '--', 'true'], '--cpuset'),
        (['--parallel', '--cores', '64', '--', 'true'], '--parallel'),
        (['--cpuset', '3-1', '--', 'true'], '--cpuset'),
        (['--offline', '0', '--', 'true'], '--offline'),
        (['--offline', '1,9', '--', 'true'], '--offline'),
        (['--mems', '2', '--', 'true'], '--mems'),
        (['--user', 'nobody', '--', 'true'], '--user'),
        (['--env', '=1', '--', 'true'], '--env'),
        (['--meter-cache', '32', '--', 'true'], '--meter-cache'),
        (['--meter', '--meter-cache', '0', '--', 'true'], '--meter-cache'),
        (['--meter', '--meter-file', '/no/such/file', '--', 'true'], '--meter-file'),
        (['--bogus', '--', 'true'], "no option '--bogus'; numa-vm --help lists them"),
        (['--noeds', '3', '--', 'true'], "no option '--noeds'; did you mean '--nodes'?"),
        (['-nodes=3', '--', 'true'], "no option '-nodes'; did you mean '--nodes'?"),
        (['stray', '--', 'true'], "'stray' is no option; write the program after --"),
        (['--nodes', '2'], 'no program'),
        (['--', '/no/such/program'], '/no/such/program'),
        (['--', '/etc/passwd'], '/etc/passwd'),
    ]

    def test_each_is_one_line_that_names_it(self):
        for arguments, named in self.CASES:
            with self.subTest(arguments=arguments):
                error = io.StringIO()
                with contextlib.redirect_stderr(error):
                    status = command.main(arguments)
                self.assertEqual(status, {'/no/such/program': 127, '/etc/passwd': 126}.get(named, 125), error.getvalue())
                self.assertEqual(error.getvalue().count('\n'), 1, error.getvalue())
                self.assertIn(named, error.getvalue())

    def test_options_after_the_dashes_are_the_program_s(self):
        _, shape, program = options.parse(['--nodes', '3', '--', 'true', '--nodes', '9', '--'])
        self.assertEqual(shape.nodes, 3)
        self.assertEqual(program, ['true', '--nodes', '9', '--'])

    def test_abbreviations_are_refused(self):
        with self.assertRaises(UsageError):
            options.parse(['--node', '3', '--', 'true'])


if __name__ == '__main__':
    unittest.main()
