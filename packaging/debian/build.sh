#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/debian/build.sh FOLDER: builds Debian's packages of this tree below FOLDER; a second time compiles only
# what has changed, where ccache is installed. Needs what packaging/debian/control lists under Build-Depends.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "$0")")/../..")
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")
if [ ! -e "$folder/made-by-nigh" ] && [ -n "$(ls -A "$folder")" ]; then
  echo "$0: $folder is not empty, and no folder of earlier packages" >&2
  exit 2
fi
touch "$folder/made-by-nigh"

version=$(dpkg-parsechangelog -l "$root/packaging/debian/changelog" -S Version)
source=$folder/nigh-${version%-*}
rm -rf "$source" "$folder"/*.deb
mkdir "$source"
# Without what was built here.
tar -C "$root" --exclude=./build --exclude=./.git --exclude=__pycache__ -cf - . | tar -C "$source" -xf -
cp -r "$source/packaging/debian" "$source/debian"
rm "$source/debian/build.sh"

if [ -d /usr/lib/ccache ]; then
  # debhelper gives the build a home of its own.
  CCACHE_DIR=$(ccache -k cache_dir)
  export CCACHE_DIR PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1
fi
cd "$source"
exec dpkg-buildpackage -us -uc -b -J"$(nproc)"
