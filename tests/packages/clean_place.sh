# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests of packages share: skipping, and clean systems of older and newer Debian. To be sourced.
set -euo pipefail
# shellcheck disable=SC2034  # for the tests
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")

missing() {  # REASON: skips the test, or fails it where all tools are required
  echo "skipped: $1"
  [ -z "${NIGH_REQUIRE_PACKAGES-}" ] || exit 1
  exit 77
}

need() {  # COMMAND...
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || missing "there is no $command"
  done
}

# clean_debian SUITE CACHE FOLDER: unpacks a minimal system into FOLDER. CACHE keeps it for the next test.
clean_debian() {
  [ "$(id -u)" = 0 ] || missing "a clean Debian needs root"
  need mmdebstrap
  local packed=$2/$1.tar
  mkdir -p "$2" "$3"
  if [ ! -e "$packed" ]; then
    mmdebstrap --quiet --variant=minbase "$1" "${packed%.tar}.part.tar" http://deb.debian.org/debian ||
      missing "mmdebstrap could not make a Debian $1"
    mv "${packed%.tar}.part.tar" "$packed"
  fi
  tar -C "$3" -xf "$packed"
  cp -L /etc/resolv.conf /etc/hosts "$3/etc/"
}

# around FOLDER COMMAND...: runs it outside of that system, whose folders of the kernel are mounted, in namespaces of
# mounts and processes of its own: nothing of it stays.
around() {
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --pid --fork --kill-child --mount-proc bash -euc '
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/run"
    shift
    exec "$@"' - "$@"
}

# inside FOLDER COMMAND...: runs it in that system.
inside() {
  local folder=$1
  shift
  around "$folder" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive chroot "$folder" "$@"
}
