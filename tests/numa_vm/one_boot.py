# SPDX-License-Identifier: Apache-2.0
"""Many commands in one boot of a guest."""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))


def said_in_guest(machine, environment, commands):
    """What each of the named commands printed, on either stream, and its status in the last line: {name: text}.

    Ends the test as skipped where there is no guest."""
    script = f"export {environment}; "
    script += "; ".join(f"echo '== {name}'; {command} 2>&1; echo status $?" for name, command in commands.items())
    done = subprocess.run([HERE + "/numa-vm", *machine, "--timeout", "900", "--", "sh", "-c", script],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        os._exit(77)
    parts = re.split(r"^== (.*)\n", done.stdout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))
