# SPDX-License-Identifier: Apache-2.0
"""The machine to emulate, as a value: its nodes, cpus, memory and distances."""
import dataclasses
import re

from arguments import UsageError

LOCAL = 10  # distance of a node to itself, as ACPI's SLIT has it
MAX_CPUS = 255  # of a PC without interrupt remapping
MAX_NODES = 64
SMALLEST_NODE_MIB = 64
SMALLEST_MACHINE_MIB = 384  # below this the guest's kernel has no room for its file systems


@dataclasses.dataclass(frozen=True)
class Shape:
    """Nodes 0 .. nodes-1 have cpus, numbered node by node; the rest has memory only."""
    nodes: int
    cores: int  # per node
    threads: int  # per core
    nodes_per_socket: int
    memory_mib: tuple  # [node]; 0: none
    distances: tuple  # [from][to]
    hmat: bool  # tell latency and bandwidth as well

    @property
    def cpus_per_node(self):
        return self.cores * self.threads

    @property
    def cpus(self):
        return self.nodes * self.cpus_per_node


def size_mib(text):
    match = re.fullmatch(r'(\d+)([MG]?)', text.strip().upper())
    if not match:
        raise UsageError(f"--memory: '{text}' is no size; write 512M or 2G")
    return int(match[1]) * (1024 if match[2] == 'G' else 1)


def memory_of_nodes(text, nodes):
    """'384M' for every node, or one size per node, separated by commas."""
    sizes = [size_mib(t) for t in text.split(',')]
    if len(sizes) == 1:
        sizes *= nodes
    if len(sizes) != nodes:
        raise UsageError(f'--memory: {len(sizes)} sizes for {nodes} nodes; give one size or {nodes}')
    if any(0 < s < SMALLEST_NODE_MIB for s in sizes):
        raise UsageError(f'--memory: a node has at least {SMALLEST_NODE_MIB}M, or 0')
    if sum(sizes) < SMALLEST_MACHINE_MIB:
        raise UsageError(f'--memory: {sum(sizes)}M in all, a guest needs {SMALLEST_MACHINE_MIB}M')
    return tuple(sizes)


PATTERNS = {
    'flat': lambda i, j, n: 20,
    'ring': lambda i, j, n: 11 + 5 * min((i - j) % n, (j - i) % n),
    'line': lambda i, j, n: 10 + 10 * abs(i - j),
    'pairs': lambda i, j, n: 12 if i // 2 == j // 2 else 32,
}


def distance_matrix(text, nodes):
    """A pattern's name, or rows of numbers: '10,20/20,10'."""
    if text in PATTERNS:
        far = PATTERNS[text]
        return tuple(tuple(LOCAL if i == j else far(i, j, nodes) for j in range(nodes))
                     for i in range(nodes))
    try:
        rows = tuple(tuple(int(x) for x in row.split(',')) for row in text.split('/'))
    except ValueError:
        names = ', '.join(PATTERNS)
        raise UsageError(f"--distances: '{text}' is neither {names} nor rows of numbers a,b/c,d") from None
    if len(rows) != nodes or any(len(row) != nodes for row in rows):
        raise UsageError(f'--distances: {nodes} nodes need {nodes} rows of {nodes} numbers')
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if i == j and value != LOCAL:
                raise UsageError(f'--distances: node {i} is {LOCAL} from itself, not {value}')
            if i != j and not LOCAL < value < 255:
                raise UsageError(f'--distances: {value} from node {i} to {j} is not in 11..254')
    return rows


def make_shape(nodes, cores, threads=1, nodes_per_socket=1, memory_only=0, memory='384M',
               distances='flat', hmat=False):
    """Checks what a user may get wrong; every error names its option."""
    for name, value, least in (('--nodes', nodes, 1), ('--cores', cores, 1), ('--threads', threads, 1),
                               ('--nodes-per-socket', nodes_per_socket, 1),
                               ('--memory-only', memory_only, 0)):
        if value < least:
            raise UsageError(f'{name}: {value} is less than {least}')
    if nodes % nodes_per_socket:
        raise UsageError(f'--nodes-per-socket: {nodes} nodes cannot be shared out in {nodes_per_socket}s')
    if nodes + memory_only > MAX_NODES:
        raise UsageError(f'--nodes: {nodes + memory_only} nodes are more than {MAX_NODES}')
    if nodes * cores * threads > MAX_CPUS:
        raise UsageError(f'--cores: {nodes * cores * threads} cpus are more than {MAX_CPUS}')
    everything = nodes + memory_only
    return Shape(nodes, cores, threads, nodes_per_socket, memory_of_nodes(memory, everything),
                 distance_matrix(distances, everything), hmat)
