#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the page of `nigh report`: report.py DATA.json PAGE.html

DATA.json is one object, as docs/results-schema.md has it. Status 2 and one line on standard error: the data make
no sense."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import page  # noqa: E402
import sections  # noqa: E402
from data import Wrong  # noqa: E402


def main():
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        document = json.load(file)
    try:
        text = page.text_of(document["title"], sections.of(document), document)
    except Wrong as wrong:
        print(f"nigh: report: {wrong}", file=sys.stderr)
        return 2
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
