# SPDX-License-Identifier: Apache-2.0
"""A shape as QEMU's arguments. Nothing here touches the system."""

# Plain "max" gives every core an L3 of its own; with Intel's name the L3 is shared by a socket.
CPU = 'max,vendor=GenuineIntel'

# Quiet, quick to boot, and reproducible: nothing that a test of NUMA needs is switched off.
KERNEL_ARGUMENTS = [
    'console=ttyS0', 'quiet', 'loglevel=5', 'panic=-1', 'oops=panic', 'nokaslr', 'mitigations=off',
    'random.trust_cpu=on', '8250.nr_uarts=1', 'rcupdate.rcu_expedited=1', 'raid=noautodetect',
    'cryptomgr.notests', 'audit=0', 'selinux=0', 'apparmor=0', 'no_timer_check', 'tsc=reliable', 'nowatchdog',
]


def accelerator(parallel):
    """With all cpus emulated in one thread, `pause` hands over to the next cpu: threads that wait for
    each other by spinning take microseconds. In parallel on fewer host cpus they take milliseconds."""
    return f"tcg,thread={'multi' if parallel else 'single'},tb-size=256"


def numa(shape):
    out = []
    everything = range(len(shape.memory_mib))
    for node in everything:
        option = f'node,nodeid={node}'
        if shape.memory_mib[node]:
            out += ['-object', f'memory-backend-ram,id=memory{node},size={shape.memory_mib[node]}M']
            option += f',memdev=memory{node}'
        if node < shape.nodes:
            first = node * shape.cpus_per_node
            option += f',cpus={first}-{first + shape.cpus_per_node - 1}'
        if shape.hmat:
            option += f',initiator={node if node < shape.nodes else 0}'
        out += ['-numa', option]
    if len(everything) > 1:
        for src in everything:
            for dst in everything:
                out += ['-numa', f'dist,src={src},dst={dst},val={shape.distances[src][dst]}']
    if shape.hmat:
        for src in range(shape.nodes):
            for dst in everything:
                pair = f'hmat-lb,initiator={src},target={dst},hierarchy=memory'
                distance = shape.distances[src][dst]
                out += ['-numa', f'{pair},data-type=access-latency,latency={8 * distance}',
                        '-numa', f'{pair},data-type=access-bandwidth,bandwidth={204800 // distance}M']
    return out


def arguments(shape, parallel=False):
    cores_of_socket = shape.cores * shape.nodes_per_socket
    return [
        '-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none',
        '-machine', 'q35' + (',hmat=on' if shape.hmat else ''),
        '-accel', accelerator(parallel), '-cpu', CPU,
        '-smp', f'{shape.cpus},sockets={shape.nodes // shape.nodes_per_socket},'
                f'cores={cores_of_socket},threads={shape.threads}',
        '-m', f'{sum(shape.memory_mib)}M', *numa(shape),
    ]


def shared_folder(folder, tag, writable):
    kind = '' if writable else ',readonly=on,multidevs=remap'
    return ['-fsdev', f'local,id={tag},path={folder},security_model=none{kind}',
            '-device', f'virtio-9p-pci,fsdev={tag},mount_tag={tag}']
