#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a policy header in which one decision is made otherwise.

    tests/shared_policies/replace.py FOLDER OUTPUT

FOLDER is one of replacements.json. What headers assert of their decisions when they are compiled is left out.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent


def without_assertions(text):
    """`text` without its lines from `static_assert(` to `);`."""
    return re.sub(r"^[ ]*static_assert\(.*?\);[^\n]*\n", "", text, flags=re.MULTILINE | re.DOTALL)


def main():
    folder, output = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = json.loads((HERE / "replacements.json").read_text(encoding="utf-8"))["replacements"]
    row = next(row for row in rows if row["folder"] == folder)
    text = (HERE.parent.parent / "src" / row["header"]).read_text(encoding="utf-8")
    if text.count(row["original"]) != 1:
        print(f"replace.py: src/{row['header']} does not hold once: {row['original']}", file=sys.stderr)
        return 1
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(without_assertions(text.replace(row["original"], row["replacement"])), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
