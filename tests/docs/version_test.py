#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each place that repeats nigh's version has the one of CMakeLists.txt, and the changelog's newest release is it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLACES = [
    ("CHANGELOG.md", r"^## \[([0-9.]+)\] - \d{4}-\d\d-\d\d$"),
    ("docs/install.md", r"nigh(?:_runtime)?[- ]([0-9]+\.[0-9]+\.[0-9]+)"),
    ("docs/releases.md", r"git tag -a v([0-9.]+)`"),
    ("include/nigh/nigh.h", r'nigh_version.*"([0-9.]+)"'),
    ("include/nigh/version.hpp", r'version\(\).*"([0-9.]+)"'),
    ("packaging/conda/meta.yaml", r'set version = "([0-9.]+)"'),
    ("packaging/debian/changelog", r"^nigh \(([0-9.]+)-"),
    ("packaging/spack/packages/nigh/package.py", r"nigh-([0-9.]+)\.tar"),
    ("packaging/vcpkg/vcpkg.json", r'"version": "([0-9.]+)"'),
    ("tests/cli/nigh.cli", r"^nigh ([0-9.]+)$"),
]
ALL_OF = {"docs/install.md"}  # elsewhere the first one counts: older releases follow


def main():
    version = re.search(r"^project\(nigh VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    wrong = []
    for place, pattern in PLACES:
        found = re.findall(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)
        if not found:
            wrong.append(f"{place}: no version found")
        for other in found if place in ALL_OF else found[:1]:
            if other != version:
                wrong.append(f"{place}: {other}, but CMakeLists.txt has {version}")
    easybuild = [path.name for path in (ROOT / "packaging/easybuild").iterdir()]
    if easybuild != [f"nigh-{version}-GCC-13.3.0.eb"]:
        wrong.append(f"packaging/easybuild: {easybuild}, but CMakeLists.txt has {version}")
    elif f"version = '{version}'" not in (ROOT / "packaging/easybuild" / easybuild[0]).read_text():
        wrong.append(f"packaging/easybuild/{easybuild[0]}: not version {version}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
