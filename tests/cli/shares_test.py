#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of nigh's runtime and of OpenMP side by side, with a real nighd.

    shares_test.py FOLDER-OF-NIGH SHARES [GAUSS]
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


class Host:
    """A nighd in a folder of its own, and what it says."""

    def __init__(self, bin_folder, folder):
        self.bin = bin_folder
        self.socket = folder / "nighd.sock"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("NIGH_", "OMP_"))}
        self.environment["NIGH_SOCKET"] = str(self.socket)
        self.daemon = None

    def start(self):
        self.daemon = subprocess.Popen([self.bin / "nighd", "--foreground", "--socket", self.socket],
                                       stderr=subprocess.DEVNULL)
        while self.programs() is None:
            assert self.daemon.poll() is None, "nighd ended"
            time.sleep(0.01)

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def programs(self):
        said = subprocess.run([self.bin / "nigh", "status", "--json"], env=self.environment,
                              capture_output=True, text=True)
        return json.loads(said.stdout)["programs"] if said.returncode == 0 else None

    def await_programs(self, name, number):
        """Until so many of that name have been seen holding cpus at the same time."""
        while True:
            here = [p for p in self.programs() if p["name"] == name and p["cpus"] > 0]
            if len(here) == number:
                return
            time.sleep(0.01)

    def run(self, *words):
        return subprocess.Popen(words, env=self.environment, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)


def check_ended_right(program):
    out, _ = program.communicate()
    said = re.fullmatch(r"right, with (\d+) to (\d+) of (\d+) workers\n", out)
    assert program.returncode == 0 and said, (program.returncode, out)
    least, most, all_of_them = map(int, said.groups())
    assert 1 <= least <= most <= all_of_them, out
    return least, most, all_of_them


def check_beside_openmp(host, gauss):
    """Its output is as ever, and it shows beside the others."""
    if not os.path.exists(gauss):
        return
    alone = subprocess.run([gauss, "--size", "600"], env=host.environment, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    seen = False
    while not seen:
        beside = host.run(host.bin / "nigh", "run", "--", gauss, "--size", "600")
        while beside.poll() is None:
            seen = seen or any(p["name"] == "gauss" for p in host.programs())
        out, _ = beside.communicate()
        assert beside.returncode == 0 and out == alone.stdout, out


def main():
    bin_folder, shares = pathlib.Path(sys.argv[1]), sys.argv[2]
    gauss = sys.argv[3] if len(sys.argv) > 3 else ""
    if len(os.sched_getaffinity(0)) < 2:
        return  # a runtime of one worker has nothing to share
    with tempfile.TemporaryDirectory() as folder:
        host = Host(bin_folder, pathlib.Path(folder))
        host.start()
        alone = host.run(shares)
        host.await_programs("shares", 1)
        two = [alone, host.run(shares)]
        host.await_programs("shares", 2)
        check_beside_openmp(host, gauss)
        host.kill()
        host.start()
        host.await_programs("shares", 2)
        for program in two:
            check_ended_right(program)
        while host.programs():
            time.sleep(0.01)

        off = dict(host.environment, NIGH_COORDINATOR="off")
        said = subprocess.run([shares], env=off, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert re.fullmatch(r"right, with (\d+) to \1 of \1 workers\n", said.stdout), said.stdout
        host.kill()


if __name__ == "__main__":
    main()
