#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./demo.sh: installs what is missing, builds what it shows, draws this machine, says what limits nigh on
# it, and runs the 3D Jacobi benchmark at full size. Results go to build/demo/.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")" || exit 1
. scripts/setup.sh

case ${1-} in
  '') ;;
  -h | --help) echo "usage: ./demo.sh" && exit 0 ;;
  *) stop "unknown argument '$1'; usage: ./demo.sh" 2 ;;
esac

need_packages "${building[@]}" "${plotting[@]}"
stage "build nigh" configure_and_build demo -- nigh_cli || exit 1

nigh=build/demo/bin/nigh
out=build/demo
mkdir -p "$out"

section() { printf '\n== %s\n\n' "$1"; }

section "This machine (nigh topo)"
"$nigh" topo && "$nigh" topo --svg "$out/machine.svg" || exit 1

section "What limits nigh here (nigh doctor)"
"$nigh" doctor || exit 1

stage "build its benchmark" configure_and_build demo -- nigh-bench-jacobi3d || exit 1

# Two grids of 602^3 doubles, and room for the system and the program itself.
bytes_needed() { echo $((2 * 8 * ($1 + 2) * ($1 + 2) * ($1 + 2) * 11 / 10 + 268435456)); }
bytes_available=$(($(awk '/^MemAvailable:/ {print $2}' /proc/meminfo) * 1024))  # not in awk: mawk's %d ends at 2^31
size=
for candidate in 600 400 200; do
  if [ "$(bytes_needed "$candidate")" -le "$bytes_available" ]; then size=$candidate && break; fi
done
[ "$size" ] || stop "needs $(($(bytes_needed 200) >> 20)) MiB of memory; $((bytes_available >> 20)) MiB are available"

section "A ${size}^3 Jacobi solver under every schedule (nigh bench jacobi3d)"
if [ "$size" -ne 600 ]; then
  printf 'The full size, 600^3, needs %d MiB of memory and %d MiB are available: %d^3 instead.\n\n' \
    $(($(bytes_needed 600) >> 20)) $((bytes_available >> 20)) "$size"
fi
"$nigh" bench jacobi3d --grid "$size" --repetitions 3 --json "$out/jacobi3d.json" --plot "$out/jacobi3d.svg" || exit 1

printf '\nDone in %d s. Written:\n' "$SECONDS"
printf '  %-28s %s\n' "$out/machine.svg" "this machine, drawn" \
  "$out/jacobi3d.json" "every measurement, one JSON line each" \
  "$out/jacobi3d.svg" "the same as a figure"
