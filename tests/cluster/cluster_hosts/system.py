# SPDX-License-Identifier: Apache-2.0
"""System calls that Python 3.11 does not have."""
import ctypes
import os

NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NET = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
WAIT_FOR_ALL = 0x40000000  # __WALL: also threads and processes that are only traced

TRACE_CONTINUE, TRACE_SEIZE, TRACE_INTERRUPT, TRACE_LISTEN = 7, 0x4206, 0x4207, 0x4208
TRACE_GET_REGISTERS, TRACE_SET_REGISTERS, TRACE_WRITE = 12, 13, 4

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
libc.ptrace.restype = ctypes.c_long


def checked(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f'{what}: {os.strerror(number)}')


def unshare(flags):
    checked(libc.unshare(ctypes.c_int(flags)), 'unshare')


def mount(source, target, kind=None, flags=0):
    def text(one):
        return one.encode() if one is not None else None
    checked(libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), None), f'mount {target}')


def die_with_parent():
    death_signal, kill = 1, 9
    checked(libc.prctl(death_signal, kill), 'prctl')


def ptrace(request, pid, address=None, data=None):
    checked(libc.ptrace(request, pid, address, data), 'ptrace')
