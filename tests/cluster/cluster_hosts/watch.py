# SPDX-License-Identifier: Apache-2.0
"""Follows processes of others to their end. Only its parent learns how a process ended, and a rank's
parent is the launcher; but who traces a process learns it, too, be it killed or not."""
import ctypes
import os
import platform
import signal

from cluster_hosts import system

STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
EVENT_STOP = 128


def seize(pid):
    """From now on os.waitpid() tells about the process, and went_on() must be told of each stop."""
    system.ptrace(system.TRACE_SEIZE, pid)


def went_on(pid, status):
    """Lets a process that only stopped for its tracer go on as if there were none."""
    event, number = status >> 16, os.WSTOPSIG(status)
    try:
        if event == EVENT_STOP and number in STOPS:
            system.ptrace(system.TRACE_LISTEN, pid)
        else:
            system.ptrace(system.TRACE_CONTINUE, pid, None, None if event else number)
    except ProcessLookupError:
        pass  # killed meanwhile


def interrupt(pid):
    """The process stops, of which os.waitpid() tells."""
    system.ptrace(system.TRACE_INTERRUPT, pid)


class Registers(ctypes.Structure):
    """user_regs_struct of x86-64"""
    _fields_ = [(name, ctypes.c_ulong) for name in (
        'r15', 'r14', 'r13', 'r12', 'rbp', 'rbx', 'r11', 'r10', 'r9', 'r8', 'rax', 'rcx', 'rdx', 'rsi', 'rdi',
        'orig_rax', 'rip', 'cs', 'eflags', 'rsp', 'ss', 'fs_base', 'gs_base', 'ds', 'es', 'fs', 'gs')]


def can_exit():
    return platform.machine() == 'x86_64'


def call_exit(pid):
    """Has the stopped process call _exit(0), as if a line of its own did."""
    registers = Registers()
    syscall_instruction, exit_group, no_restart = 0x050f, 231, 2**64 - 1
    try:
        system.ptrace(system.TRACE_GET_REGISTERS, pid, None, ctypes.addressof(registers))
        system.ptrace(system.TRACE_WRITE, pid, registers.rip, syscall_instruction)
        registers.rax, registers.orig_rax, registers.rdi = exit_group, no_restart, 0
        system.ptrace(system.TRACE_SET_REGISTERS, pid, None, ctypes.addressof(registers))
        system.ptrace(system.TRACE_CONTINUE, pid)
    except ProcessLookupError:
        pass  # killed meanwhile
