#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# debian_test.sh FOLDER: builds Debian's packages, has lintian read them, and installs, uses and removes them in a
# clean Debian 12. FOLDER keeps what a second time can use.
. "$(dirname "$(realpath "$0")")/clean_place.sh"
folder=$1
need autopkgtest dpkg-buildpackage dh lintian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== dpkg-buildpackage"
"$root/packaging/debian/build.sh" "$folder/debian" >"$work/log" 2>&1 || { tail -n 100 "$work/log"; exit 1; }

echo "== lintian"
lintian --version
# They are no upload to Debian, so there is no bug that they would close.
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --allow-root "$folder"/debian/*.changes

echo "== a clean Debian 12"
place=$work/debian
clean_debian bookworm "$folder/chroots" "$place"
inside "$place" apt-get update -q >"$work/log" 2>&1 || { cat "$work/log"; missing "the clean Debian reaches no mirror"; }
# Other than what every installation leaves: apt's and dpkg's own files, caches and logs.
files() {
  (cd "$place" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp \
    -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune -o -print | sort)
}
files >"$work/before"
# shellcheck disable=SC2016  # for dpkg-query
packages() { inside "$place" dpkg-query -W -f '${Package}\n' | sort; }
packages >"$work/packages_before"

echo "== install the commands"
mkdir "$place/packages"
cp "$folder"/debian/*.deb "$place/packages"
# shellcheck disable=SC2016  # for the inner shell
install() {  # PACKAGE...: nigh's from here, others from the mirror
  inside "$place" sh -c 'cd /packages && for one in "$@"; do
      if [ -e ./"$one"_*.deb ]; then set -- "$@" ./"$one"_*.deb; else set -- "$@" "$one"; fi; shift
    done && apt-get install -qy --no-install-recommends "$@"' - "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
began=$SECONDS
install libnigh0 nighd nigh-tools
installed=$SECONDS
inside "$place" nigh doctor >"$work/log"
echo "apt-get install took $((installed - began)) s, nigh doctor $((SECONDS - installed)) s"
head -n 3 "$work/log"
inside "$place" nigh --version
inside "$place" sh -c 'cd /usr/share && nigh completion bash | cmp - bash-completion/completions/nigh &&
  nigh completion zsh | cmp - zsh/vendor-completions/_nigh && nigh completion fish | cmp - fish/vendor_completions.d/nigh.fish'

echo "== the library unpacked, without root"
install g++ pkg-config
cp "$root/docs/examples/first_loop.cpp" "$place/packages"
# shellcheck disable=SC2016  # for the inner shell
inside "$place" sh -euc 'cd /packages
  for file in libnigh0_*.deb libnigh-dev_*.deb; do dpkg -x "$file" ~/nigh; done
  export PKG_CONFIG_PATH=~/nigh/usr/lib/x86_64-linux-gnu/pkgconfig
  g++ -std=c++20 -O2 first_loop.cpp $(pkg-config --cflags --libs nigh) -Wl,-rpath,"$(pkg-config --variable=libdir nigh)" -o first_loop
  ldd first_loop | grep -F "$HOME/nigh/usr/lib"
  ./first_loop
  rm -r ~/nigh first_loop' || { echo "failed"; exit 1; }

echo "== autopkgtest installs the rest, and uses all"
install nigh-doc
mkdir "$work/tree"
cp -r "$root/packaging/debian" "$work/tree"
rm "$work/tree/debian/build.sh"
made=()
for one in "$folder"/debian/*.deb; do
  [[ $one == *-dbgsym_* ]] || made+=("$one")
done
around "$place" autopkgtest --no-built-binaries "${made[@]}" "$work/tree/" -- chroot "$place" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
grep '^smoke .*PASS' "$work/log" | tail -n 1

echo "== remove"
rm -r "$place/packages"
packages >"$work/packages"
# shellcheck disable=SC2046  # names are words
inside "$place" apt-get purge -qy $(comm -13 "$work/packages_before" "$work/packages") >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
files >"$work/after"
if grep nigh "$work/after"; then
  echo "was left behind"
  exit 1
fi
# Packages of others leave a few folders and the loader's cache.
comm -13 "$work/before" "$work/after" | sed -n '1,20s/^/left by other packages: /p'
echo "passed"
