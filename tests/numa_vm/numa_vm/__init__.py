# SPDX-License-Identifier: Apache-2.0
"""A Linux guest with real NUMA under QEMU's software emulation.

options  what the user asked for          -> shape
shape    the machine, as a value           (no dependencies)
kernel   a kernel that QEMU can start
initrd   what the kernel starts with
machine  the shape as QEMU's arguments    -> shape
meter    the plugin that counts accesses  -> shape
guest    one boot, from start to exit status
command  the pieces in order
"""
