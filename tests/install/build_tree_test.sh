#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_tree_test.sh BUILD CXX: uses the library of a build folder, which was never installed, by pkg-config.
set -euo pipefail
build=$(realpath "$1") cxx=$2
here=$(dirname "$(realpath "$0")")
command -v pkg-config >/dev/null || { echo "no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_PATH=$build
libdir=$(pkg-config --variable=libdir nigh)
[ -e "$libdir/libnigh.so" ] || { echo "no libnigh.so in $libdir"; exit 1; }
# shellcheck disable=SC2046  # flags are words
"$cxx" -std=c++20 "$here/consumer/main.cpp" $(pkg-config --cflags --libs nigh) -Wl,-rpath,"$libdir" -o "$work/program"
"$work/program"
