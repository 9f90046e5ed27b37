# SPDX-License-Identifier: Apache-2.0
"""Hosts made of namespaces, a launcher on the first of them, and an eye on each rank.

options    what the user asked for             -> faults
faults     what is done to whom, and when
launchers  the command line of each launcher
network    the hosts and the switch between them
slurm      a controller and a daemon on each host
ranks      each rank's process, output and end  -> watch
watch      how a process is followed to its end -> system
job        one run: what happens, in order
report     what is said about it
system     calls that Python does not have
command    the pieces in order

Everything lives in a namespace of processes whose first is the tool's own, with a /run of its own. So
the kernel takes all of it away when that process ends, in whatever way: processes, hosts, mounts. And
nothing of it has a name outside that a second run could want.
"""
