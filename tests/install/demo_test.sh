#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo_test.sh: runs ./demo.sh in a fresh copy of the last commit, as README.md says, and looks at what it makes.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "$0")")/../..")
git -C "$root" rev-parse HEAD >/dev/null 2>&1 || { echo "skipped: no clone"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$root" archive HEAD | tar -C "$work" -x
cd "$work"

status=0
./demo.sh --nonsense 2>error || status=$?
grep -qx ".*unknown argument '--nonsense'; usage: ./demo.sh" error
[ "$status" = 2 ]

./demo.sh >log 2>&1 || { tail -n 60 log; exit 1; }
sed -n '/^== This machine/,$p' log
for title in "This machine" "What limits nigh here" "A .*3 Jacobi solver"; do grep -q "^== $title" log; done
python3 - <<'EOF'
import json, xml.etree.ElementTree as xml
for picture in "machine", "jacobi3d":
    assert xml.parse(f"build/demo/{picture}.svg").getroot().tag.endswith("svg"), picture
runs = [json.loads(line) for line in open("build/demo/jacobi3d.json")]
assert len(runs) > 1, runs
EOF
echo "passed"
