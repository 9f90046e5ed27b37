#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes_test.sh FOLDER: the recipes for other package managers, as far as these can be had here: Conan builds and
# uses the library, EasyBuild reads its recipe and finds all dependencies, and the rest is read by stand-alone checks.
# FOLDER keeps what a second time can use.
. "$(dirname "$(realpath "$0")")/clean_place.sh"
folder=$1/recipes
recipes=$root/packaging
need ninja
/usr/bin/python3 -c 'import ensurepip, yaml' 2>/dev/null || missing "there is no /usr/bin/python3 with venv and yaml"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

echo "== Spack, conda, vcpkg: read"
/usr/bin/python3 -B "$root/tests/packages/read_recipes.py" "$root"
cmake -DPORT="$recipes/vcpkg/portfile.cmake" -P "$root/tests/packages/vcpkg_calls.cmake"

echo "== Conan: built and used"
if [ ! -e "$folder/tools/installed" ]; then
  /usr/bin/python3 -m venv --clear "$folder/tools"
  "$folder/tools/bin/pip" install --quiet --disable-pip-version-check conan easybuild-framework easybuild-easyblocks \
    easybuild-easyconfigs >"$work/log" 2>&1 || { cat "$work/log"; missing "PyPI is not reached"; }
  touch "$folder/tools/installed"
fi
export PATH=$folder/tools/bin:/usr/bin:$PATH CONAN_HOME=$work/conan
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$CONAN_HOME CCACHE_NOHASHDIR=1
fi
# Conan's own server is out of reach: hwloc and cmake are those of the system.
mkdir "$work/hwloc"
cat >"$work/hwloc/conanfile.py" <<'EOF'
from conan import ConanFile
from conan.tools.gnu import PkgConfig


class SystemHwloc(ConanFile):
    name = "hwloc"
    settings = "os", "arch", "compiler", "build_type"

    def package_info(self):
        PkgConfig(self, "hwloc").fill_cpp_info(self.cpp_info)
EOF
make_and_use() {
  conan remote disable "*" &&
    conan profile detect &&
    printf '[platform_tool_requires]\ncmake/%s\n' "$(cmake --version | sed -n 's/.*version //p')" \
      >>"$CONAN_HOME/profiles/default" &&
    sed -i 's/^compiler.cppstd=.*/compiler.cppstd=20/' "$CONAN_HOME/profiles/default" &&
    conan create "$work/hwloc" --version "$(pkg-config --modversion hwloc)" &&
    conan create "$recipes/conan" -c tools.cmake.cmake_layout:test_folder="$work/test_package" \
      -c tools.cmake.cmaketoolchain:user_presets=
}
make_and_use >"$work/log" 2>&1 || { tail -n 100 "$work/log"; exit 1; }
conan --version
grep -E '^nigh [0-9.]+ sees [0-9]+ domains' "$work/log"

echo "== EasyBuild: read, dependencies found"
# It asks for a tool that loads modules, which a dry run does not use.
export LMOD_CMD=/usr/share/lmod/lmod/libexec/lmod
[ -x "$LMOD_CMD" ] || missing "there is no Lmod for EasyBuild"
as_root=()
[ "$(id -u)" != 0 ] || as_root=(--allow-use-as-root-and-accept-consequences)
eb --version
eb "${as_root[@]}" --dry-run --robot --prefix="$work/easybuild" "$recipes"/easybuild/*.eb >"$work/log" 2>&1 ||
  { tail -n 60 "$work/log"; exit 1; }
grep 'nigh/' "$work/log"
echo "passed"
