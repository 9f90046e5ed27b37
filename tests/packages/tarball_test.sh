#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tarball_test.sh BUILD CMAKE CXX: makes the release tarball of this build, unpacks it in a folder with a space in its
# name, and uses it from there.
. "$(dirname "$(realpath "$0")")/clean_place.sh"
build=$1 cmake=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# In a folder of its own: other tests install this build at the same time.
"${cmake%cmake}cpack" --config "$build/CPackConfig.cmake" -B "$work/packed" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
tarball=$(echo "$work"/packed/nigh-*.tar.gz)
mkdir "$work/a strange place"
tar -C "$work/a strange place" -xzf "$tarball"
prefix=$(echo "$work/a strange place"/nigh-*)
echo "== ${tarball##*/}"
rm -r "$work/packed"

"$prefix/bin/nigh" --version
"$prefix/bin/nigh" doctor >"$work/log"
"$prefix/bin/nigh" bench >"$work/log"
if [ -e "$prefix/libexec/nigh/nigh-bench-jacobi3d" ]; then
  grep -q jacobi3d "$work/log"
  "$prefix/bin/nigh" bench jacobi3d --help >/dev/null
fi
"$prefix/bin/nigh" sim machines | grep -q '^sun-x4600'
"$prefix/bin/nigh" completion bash | cmp - "$prefix/share/bash-completion/completions/nigh"
"$prefix/bin/nigh" run --threads 1 -- sh -c 'test "$OMP_NUM_THREADS" = 1'
# No path of the build is left in what the loader reads.
if find "$prefix" -type f -exec readelf -d {} + 2>/dev/null | grep -E 'R(UN)?PATH' | grep -F "$build"; then
  echo "a library is looked for in the build"
  exit 1
fi

echo "== find_package"
"$cmake" -G Ninja -S "$root/tests/install/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/consumer" --target consumer >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/consumer/consumer"

echo "== pkg-config"
pc=$(dirname "$(find "$prefix" -name nigh.pc)")
export PKG_CONFIG_PATH=$pc
# pkg-config escapes the space, for a shell to read.
eval "\"$cxx\" -std=c++20 \"$root/tests/install/consumer/main.cpp\" $(pkg-config --cflags --libs nigh) -o \"$work/by_pkg_config\""
libdir=${pc%/pkgconfig}
if env -u LD_LIBRARY_PATH "$work/by_pkg_config" 2>"$work/log"; then
  echo "ran without being told where the library is"
  exit 1
fi
cat "$work/log"  # docs/install.md explains it
LD_LIBRARY_PATH=$libdir "$work/by_pkg_config"
echo "passed"
