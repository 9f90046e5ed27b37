#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh BUILD CMAKE CXX [FORTRAN]: installs BUILD to a temporary prefix, moves that prefix elsewhere
# (an installed tree may be unpacked anywhere), and consumes it in both ways. tests/docs/examples_test.py and
# commands_test.py build each program of docs/examples.
set -euo pipefail
build=$1 cmake=$2 cxx=$3 fortran=${4:-}
here=$(dirname "$(realpath "$0")")
examples=$here/../../docs/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# systemd takes a space and a percent sign for its own.
installed="$work/here at 100%"
"$cmake" --install "$build" --prefix "$installed" >"$work/log" || { cat "$work/log"; exit 1; }
unit=$installed/lib/systemd/system/nighd.service
if [ -f "$unit" ]; then
  echo "== systemd's units"
  grep -qF "ExecStart=\"$work/here at 100%%/bin/nighd\" " "$unit"
  if command -v systemd-analyze >/dev/null; then
    cp "${unit%/*}"/nighd.* "$work"
    systemd-analyze verify --man=no "$work/nighd.service" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    [ ! -s "$work/log" ] || { cat "$work/log"; exit 1; }
  fi
fi
prefix=$work/moved
mv "$installed" "$prefix"

echo "== nothing refers to the build"
# Links, scripts and texts; programs hold the names of source files in their assertions.
for link in $(cd "$prefix" && find . -type l); do
  case $(readlink "$prefix/$link") in /*) echo "$link points to $(readlink "$prefix/$link")"; exit 1 ;; esac
done
if grep -rIlF -e "$(realpath "$build")" "$prefix"; then echo "these name the build folder"; exit 1; fi

echo "== each file is in one of Debian's packages"
# Those of lib have other names there.
patterns=$(sed 's/ .*//' "$here"/../../packaging/debian/*.install)
set -f
for file in $(cd "$prefix" && find bin include lib/systemd libexec share ! -type d 2>/dev/null); do
  package=
  for pattern in $patterns; do
    case usr/$file in $pattern | $pattern/*) package=yes ;; esac
  done
  [ "$package" ] || { echo "no packaging/debian/*.install has $file"; exit 1; }
done
set +f

echo "== find_package"
"$cmake" -G Ninja -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" >"$work/log" || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/consumer"
"$work/consumer/consumer"
"$work/consumer/standard"
[ ! -x "$work/consumer/ranks" ] || "$work/consumer/ranks" 20

# The compiled module is one compiler's.
module=$prefix/include/nigh/fortran/nigh.mod
if [ -f "$module" ] && command -v "${fortran:=gfortran}" >/dev/null; then
  echo "== find_package, Fortran"
  "$cmake" -G Ninja -S "$here/fortran_consumer" -B "$work/fortran" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_Fortran_COMPILER="$fortran" >"$work/log" || { cat "$work/log"; exit 1; }
  "$cmake" --build "$work/fortran"
  "$work/fortran/fib_fortran" 20
else
  echo "== no Fortran compiler: not tested"
fi

echo "== pkg-config"
pc=$(dirname "$(find "$prefix" -name nigh.pc)")
export PKG_CONFIG_PATH=$pc
# shellcheck disable=SC2046  # flags are words
"$cxx" -std=c++20 "$here/consumer/main.cpp" $(pkg-config --cflags --libs nigh) \
  -Wl,-rpath,"$(pkg-config --variable=libdir nigh)" -o "$work/by_pkg_config"
libdir=$(pkg-config --variable=libdir nigh)
# shellcheck disable=SC2046
cc -std=c99 "$examples/fib.c" $(pkg-config --cflags --libs nigh) -Wl,-rpath,"$libdir" \
  -o "$work/fib_by_pkg_config"
"$work/fib_by_pkg_config" 20
if [ -f "$module" ] && command -v "$fortran" >/dev/null; then
  # shellcheck disable=SC2046
  "$fortran" -J "$work" "$examples/fib.f90" $(pkg-config --cflags --libs nigh-fortran) \
    -Wl,-rpath,"$libdir" -o "$work/fortran_by_pkg_config"
  "$work/fortran_by_pkg_config" 20
  echo "== the module's source"
  # shellcheck disable=SC2046
  "$fortran" -J "$work" "$prefix/include/nigh/fortran/nigh.f90" "$examples/fib.f90" \
    $(pkg-config --libs nigh) -Wl,-rpath,"$libdir" -o "$work/fortran_from_source"
  "$work/fortran_from_source" 20
fi
"$work/by_pkg_config"
echo "== without exceptions and RTTI"
for compiler in "$cxx" clang++-19; do
  command -v "$compiler" >/dev/null || continue
  # shellcheck disable=SC2046
  "$compiler" -std=c++20 -fno-exceptions -fno-rtti -fsyntax-only $(pkg-config --cflags nigh) "$here/consumer/plain.cpp"
done
echo "== another standard library's strings do not link"
# shellcheck disable=SC2046
if "$cxx" -std=c++20 -D_GLIBCXX_DEBUG "$here/consumer/main.cpp" $(pkg-config --cflags --libs nigh) \
  -o "$work/with_debug" 2>"$work/log"; then
  echo "a program with _GLIBCXX_DEBUG links"
  exit 1
fi
grep -q "compiled_with_GLIBCXX_DEBUG" "$work/log" || { cat "$work/log"; exit 1; }

if [ -x "$prefix/bin/nigh" ]; then
  echo "== the command"
  "$prefix/bin/nigh" --version
  "$prefix/bin/nigh" bench
  "$prefix/bin/nigh" doctor --json >/dev/null
  # The library it preloads came along.
  "$prefix/bin/nigh" run --threads 1 -- sh -c 'case $LD_PRELOAD in *nigh-places.so) ;; *) exit 1 ;; esac'
  # All that are preloaded run beside any C library from 2.28 on.
  if command -v readelf >/dev/null && [[ $(uname -m) =~ ^(x86_64|aarch64)$ ]]; then
    for library in "$prefix"/libexec/nigh/nigh-{openmp,places,tasks}.so; do
      newest=$(readelf -V "$library" | sed -n 's/.*Name: GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -1)
      [ "$(printf '%s\n' "$newest" 2.28 | sort -V | tail -1)" = 2.28 ] || { echo "$library needs glibc $newest"; exit 1; }
    done
  fi
  for driver in "$prefix"/libexec/nigh/nigh-bench-*; do
    if [ -x "$driver" ]; then "$prefix/bin/nigh" bench "${driver##*/nigh-bench-}" --help >/dev/null; fi
  done
  for program in $(find "$prefix/libexec/nigh" -maxdepth 1 -type f -perm -100 ! -name '*.so*'); do
    "$program" --help >"$work/log" 2>&1 </dev/null || { echo "$program --help ends with $?"; cat "$work/log"; exit 1; }
    [ -s "$work/log" ] || { echo "$program --help says nothing"; exit 1; }
  done
  for page in "$here"/../../docs/man/*.[18]; do test -s "$prefix/share/man/man${page##*.}/${page##*/}"; done
  echo "== completion in shells"
  for shell_file in bash:bash-completion/completions/nigh zsh:zsh/site-functions/_nigh fish:fish/vendor_completions.d/nigh.fish; do
    "$prefix/bin/nigh" completion "${shell_file%%:*}" | cmp - "$prefix/share/${shell_file#*:}"
  done
  for program in nighd numa-vm; do
    test -s "$prefix/share/bash-completion/completions/$program"
    test -s "$prefix/share/zsh/site-functions/_$program"
    if command -v fish >/dev/null; then
      PATH=$prefix/bin:$PATH fish --no-config -c ". '$prefix/share/fish/vendor_completions.d/$program.fish'; complete -C '$program --so'; complete -C '$program --hm'" |
        grep -qE '^--(socket|hmat)'
    fi
  done
  # As bash-completion loads it, with nigh in the path.
  bash -c '. "$1"; COMP_WORDS=(nigh to); COMP_CWORD=1; _nigh; test "${COMPREPLY[*]}" = "topo top"' - \
    "$prefix/share/bash-completion/completions/nigh"
  "$prefix/bin/nigh" sim machines | grep -q "^sun-x4600"
  test -s "$prefix/lib/systemd/system/nighd.socket"
  "$prefix/bin/nighd" --version
  # The module finds the commands above its own folder.
  if [ -e "$prefix/libexec/nigh/nigh-python.so" ]; then
    PYTHONPATH=$prefix/lib/python python3 -B -c 'import nigh; nigh.topology(); nigh.run(["true"], check=True)'
  fi
  # Every program that came along starts, and finds its parts.
  for program in "$prefix"/bin/*; do
    "$program" --help >"$work/log" 2>&1 || { echo "$program --help ends with $?"; cat "$work/log"; exit 1; }
  done
fi
