#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# container_test.sh FOLDER: builds the container of packaging/container by buildah, without its benchmarks, and runs it.
# Its base is a Debian 12 made here, since the registry of the real one may be out of reach. FOLDER keeps what a second
# time can use.
. "$(dirname "$(realpath "$0")")/clean_place.sh"
folder=$1
need buildah
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/storage.conf" <<EOF
[storage]
driver = "vfs"
graphroot = "$work/store"
runroot = "$work/run"
EOF
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot
# Images of this store alone are taken, whoever signed them.
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$work/policy.json"

echo "== a base"
base=$(sed -n 's/^FROM \([^ ]*\).*/\1/p' "$root/packaging/container/Containerfile" | sort -u)
clean_debian bookworm "$folder/chroots" "$work/debian"
made=$(buildah from scratch)
buildah add --quiet "$made" "$folder/chroots/bookworm.tar" / >"$work/log"
buildah commit --quiet --signature-policy "$work/policy.json" "$made" "$base" >"$work/log"
buildah rm "$made" >"$work/log"

echo "== build"
git -C "$root" archive --prefix=clone/ HEAD | tar -C "$work" -x
buildah build --quiet --pull-never --signature-policy "$work/policy.json" --build-arg OPTIONS=-DNIGH_WORKLOADS=OFF \
  -f "$work/clone/packaging/container/Containerfile" -t nigh "$work/clone" >"$work/log" 2>&1 ||
  { grep -q 'Temporary failure resolving' "$work/log" && missing "the container reaches no mirror"; tail -n 60 "$work/log"; exit 1; }

echo "== run"
made=$(buildah from --pull-never --signature-policy "$work/policy.json" localhost/nigh)
in_container() { buildah run "$made" -- "$@"; }
entry=$(buildah inspect --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' "$made")
read -r -a entry <<<"$entry"
echo "\$ ${entry[*]}"
in_container "${entry[@]}" >"$work/log"
head -n 3 "$work/log"
in_container nigh --version
in_container nighd --version
in_container nigh topo >"$work/log"
in_container nigh run --threads 1 -- sh -c 'test "$OMP_NUM_THREADS" = 1'
in_container nigh sim machines | grep -q '^sun-x4600'
# shellcheck disable=SC2016  # for the inner shell
in_container sh -euc 'find /usr/local -type f | while read -r file; do
    if ldd "$file" 2>/dev/null | grep "not found"; then echo "of $file"; exit 1; fi
  done'
echo "passed"
