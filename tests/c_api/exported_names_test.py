#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exported_names_test.py NM LIBRARY HEADER: of names that are not C++'s, the library exports exactly
the functions that nigh.h declares."""

import re
import subprocess
import sys

nm, library, header = sys.argv[1:]
with open(header, encoding="utf-8") as file:
    declared = set(re.findall(r"^NIGH_C_API [^;(]*?(\w+)\(", file.read(), re.MULTILINE))
listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
exported = {line.split()[-1].partition("@")[0] for line in listing.splitlines()}
c_names = {name for name in exported if not name.startswith("_Z")}
of_others = {name for name in exported if name.startswith("_ZN") and "nigh" not in name
             and not re.match(r"_ZN?K?S[tabsiod]", name)}

wrong = [f"declared, not exported: {name}" for name in sorted(declared - c_names)]
wrong += [f"exported, not declared: {name}" for name in sorted(c_names - declared)]
wrong += [f"exported, not nigh's: {name}" for name in sorted(of_others)]
print("\n".join(wrong) if wrong else f"{len(declared)} functions")
sys.exit(1 if wrong or not declared else 0)
