#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator decides nothing itself: sim_links_test.py NM LIBRARY

What libnigh_sim.a defines for others is all in nigh::sim, and it needs the coordinator from elsewhere: without the
product's, an experiment does not link."""
import re
import subprocess
import sys

OURS = re.compile(r"(?:\[clone|non-virtual thunk to |guard variable for |typeinfo|vtable|.* for )*nigh::sim::")
NEEDED = ["nigh::coordinator::Coordinator::Coordinator(", "nigh::coordinator::Coordinator::step("]


def main():
    nm, library = sys.argv[1:3]
    lines = subprocess.run([nm, "-C", library], capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = [match.groups() for match in (re.match(r"[0-9a-f ]{16} (\w) (.*)", line) for line in lines) if match]
    strong = [name for kind, name in symbols if kind in "TDBR"]
    foreign = [name for name in strong if "nigh::" in name and not OURS.match(name)]
    undefined = [name for kind, name in symbols if kind == "U"]
    missing = [need for need in NEEDED if not any(name.startswith(need) for name in undefined)]
    for name in foreign:
        print(f"{library} defines {name}")
    for need in missing:
        print(f"{library} does not take {need}) from elsewhere")
    assert len(strong) > 20, "nm lists what the library defines"
    sys.exit(1 if foreign or missing else 0)


if __name__ == "__main__":
    main()
