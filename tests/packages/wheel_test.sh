#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel_test.sh FOLDER: builds the Python wheel, and uses it with two Pythons here and with one of Debian 11, whose
# glibc is older. FOLDER keeps what a second time can use.
. "$(dirname "$(realpath "$0")")/clean_place.sh"
folder=$1
need ninja
/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || missing "there is no /usr/bin/python3 with venv"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== build"
/usr/bin/python3 -m pip download --quiet --no-deps --dest "$work/network" scikit-build-core >"$work/log" 2>&1 ||
  { cat "$work/log"; missing "PyPI is not reached"; }
"$root/packaging/wheel/build.sh" "$folder/wheel" >"$work/log" 2>&1 || { tail -n 100 "$work/log"; exit 1; }
grep -vE '^\s*$' "$work/log"
wheel=$(echo "$folder"/wheel/wheels/*.whl)
case $wheel in *-py3-none-manylinux_2_28_*.whl) ;; *) echo "$wheel has another tag"; exit 1 ;; esac

# As a user would, with the commands of a fresh virtual environment in $1.
cat >"$work/use.sh" <<'EOF'
set -eu
bin=$1/bin
"$bin/nigh" --version
"$bin/nighd" --version
"$bin/nigh" doctor >/tmp/doctor
head -n 2 /tmp/doctor
# The commands say where to get those parts that the wheel lacks.
if grep -q numa-vm /tmp/doctor; then
  tr -s ' \n' ' ' </tmp/doctor | grep -q "Debian's package nigh-tools and a build from source have it"
fi
status=0
"$bin/nigh" bench 2>/tmp/bench || status=$?
[ "$status" = 2 ] && grep -q "Debian's package nigh-tools and a build from source have them" /tmp/bench
# Its own Python is the one that draws, whatever is first in PATH.
"$bin/nigh" run --threads 1 -- sh -c 'case $NIGH_PYTHON in "$1"/python*) ;; *) exit 1 ;; esac' sh "$bin"
"$bin/nigh" topo --json >/dev/null
"$bin/nigh" sim machines | grep -q '^sun-x4600'
"$bin/nigh" run --threads 1 -- sh -c 'case $LD_PRELOAD in *nigh-places.so) ;; *) exit 1 ;; esac'
# So is that which shares the host, and the daemon starts.
"$bin/nigh" run -- sh -c 'case $LD_PRELOAD in *nigh-openmp.so) ;; *) exit 1 ;; esac'
"$bin/nigh" run --tasks prefer -- sh -c 'case $LD_PRELOAD in *nigh-tasks.so:*) ;; *) exit 1 ;; esac'
"$bin/nigh" run --threads 1 -- sh -c 'exit 3' && exit 1
"$bin/python" - <<'PY'
import nigh
assert nigh.binary().is_file() and nigh.binary("nighd").is_file()
try:
    nigh.binary("other")
    raise SystemExit("found a command that there is not")
except FileNotFoundError:
    pass
done = nigh.run(["sh", "-c", "echo $OMP_NUM_THREADS; exit 5"], options=["--threads", "1"], capture_output=True, text=True)
assert (done.returncode, done.stdout) == (5, "1\n"), done
try:
    nigh.run("sh")
    raise SystemExit("took a string")
except TypeError:
    pass
assert nigh.topology().cpus and nigh.doctor().machine
try:
    import cffi, numpy, threadpoolctl
except ImportError:
    for what, name in ((lambda: nigh.limit().__enter__(), "cffi"), (lambda: nigh.array(3), "numpy")):
        try:
            what()
            raise SystemExit(f"needs no {name}")
        except ImportError as missing:
            assert f"pip install {name}" in str(missing), missing
    print("module nigh", nigh.__version__, "without leases and arrays")
else:
    import os, tempfile
    with tempfile.TemporaryDirectory() as folder:
        with nigh.limit(1, start=True, socket=os.path.join(folder, "nighd.sock")) as lease:
            assert (lease.source, lease.threads) == ("nighd", 1), lease
            assert os.sched_getaffinity(0) == set(lease.cpus), lease
            pools = {pool["user_api"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
            assert pools == {"nigh": 1, "blas": 1}, pools
    a = nigh.array(1000, placement="blocked:100")
    a[:] = 1
    assert sum(nigh.where(a).of_domain) == 2, nigh.where(a)
    print("module nigh", nigh.__version__, "with a lease of one cpu and a placed array")
PY
EOF

# The oldest and the newest Python that are here.
pythons=$(for one in /usr/bin/python3 "$HOME"/.pyenv/versions/*/bin/python3; do
  "$one" -c 'import sys, ensurepip
if sys.version_info >= (3, 8): print("%d.%02d" % sys.version_info[:2], sys.executable)' 2>/dev/null || true
done | sort -u -k 1,1)
[ "$(echo "$pythons" | wc -l)" -ge 2 ] || missing "there is one Python only"
newest=$(echo "$pythons" | sed -n '$p' | cut -d' ' -f2)
for python in $(echo "$pythons" | sed -n '1p;$p' | cut -d' ' -f2); do
  echo "== $("$python" --version)"
  "$python" -m venv "$work/fresh"
  "$work/fresh/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
  sh "$work/use.sh" "$work/fresh"
  if [ "$python" = "$newest" ]; then
    echo "== the same, with cffi, numpy and threadpoolctl"
    "$work/fresh/bin/pip" install --quiet --disable-pip-version-check cffi numpy threadpoolctl mypy
    sh "$work/use.sh" "$work/fresh"
    echo "== the types of the module"  # and not of the scripts that the commands run
    mkdir -p "$work/types/nigh"
    cp "$work"/fresh/lib/python*/site-packages/nigh/{*.py,py.typed} "$work/types/nigh"
    (cd "$work/types" && "$work/fresh/bin/mypy" --strict -p nigh)
  fi
  "$work/fresh/bin/pip" uninstall --quiet --yes nigh-runtime
  if find "$work/fresh" -name '*nigh*' | grep .; then
    echo "was left behind"
    exit 1
  fi
  rm -r "$work/fresh"
done

echo "== a clean Debian 11"
place=$work/debian
clean_debian bullseye "$folder/chroots" "$place"
inside "$place" sh -c 'apt-get update -q && apt-get install -qy --no-install-recommends python3-venv' \
  >"$work/log" 2>&1 || { cat "$work/log"; missing "the clean Debian reaches no mirror"; }
cp "$wheel" "$work/use.sh" "$place/root"
# shellcheck disable=SC2016  # for the inner shell
inside "$place" sh -euc 'ldd --version | head -n 1
  began=$(date +%s)
  python3 -m venv /root/fresh && /root/fresh/bin/pip install --quiet --no-index /root/*.whl
  installed=$(date +%s)
  /root/fresh/bin/nigh doctor >/dev/null
  echo "the virtual environment and pip install took $((installed - began)) s, nigh doctor $(($(date +%s) - installed)) s"
  sh /root/use.sh /root/fresh'
echo "passed"
