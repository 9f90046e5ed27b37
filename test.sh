#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./test.sh [--fast | --full]: installs what is missing, builds nigh in every way it is built, and tests it.
set -uo pipefail
cd "$(dirname "$(realpath "$0")")" || exit 1
. scripts/setup.sh

usage="usage: ./test.sh [--fast | --full]"
help="$usage

Installs missing packages, builds nigh in build/PRESET, and tests it.

  --fast  the inner loop: compiles what has changed (preset dev), and runs the unit, model and tidy tests,
          less those of benchmarks and workloads. For after each change.
          One test:  ctest --test-dir build/dev -R runtime_scope_test --output-on-failure
          One case:  build/dev/tests/unit/runtime_test --gtest_filter='TaskScope.*'
  (none)  all tests of the usual build; the lock-free code under the model checker; the schedulers under stress
          with the thread sanitizer (by clang, the second compiler); and a few boots of a machine with real NUMA
          nodes.
  --full  also all that clang can build, tested as it is installed; all tests under the address,
          undefined-behaviour and thread sanitizers; those of the scheduler with threads held up at random; every
          machine with NUMA nodes; long stress runs and simulations; a minute of libFuzzer for each kind of file and message; programs of Debian and
          PyPI that use OpenMP; ranks under Slurm; packages made, installed and used; the site of docs/ in a
          browser; a short run of every benchmark."
full=
fast=
for argument in "$@"; do
  case $argument in
    --full) full=yes ;;
    --fast) fast=yes ;;
    -h | --help) echo "$help" && exit 0 ;;
    *) stop "unknown argument '$argument'; $usage" 2 ;;
  esac
done
[ -z "$full" ] || [ -z "$fast" ] || stop "--fast or --full, not both; $usage" 2

need_packages "${building[@]}" "${plotting[@]}" "${testing[@]}" ${full:+"${scheduling[@]}" "${sharing[@]}" "${packaging[@]}"
  "${shells[@]}" "${publishing[@]}" "${browsing[@]}"}
if [ -z "$fast" ]; then need_openmpi5 "$full"; fi
if [ "$full" ]; then need_wheels; fi

# run_ctest NAME PRESET OPTION...: a stage that runs ctest in the preset's build, below "${around[@]}",
# and shows how ctest sums it up; the tests that fail are named again at the end. A preset that was not built is
# not tested.
built=" "
failed_tests=
run_ctest() {
  local name=$1 preset=$2 status=0
  shift 2
  if [[ $built != *" $preset "* ]]; then
    printf '%-44s not run: nothing was built\n' "$name"
    return 1
  fi
  stage "$name" "${around[@]}" "$ctest" --test-dir "build/$preset" --output-on-failure \
    --no-tests=error "$@" || status=$?
  grep -E 'tests passed|^Total Test time|\*\*\*(Skipped|Not Run|Timeout)' "$last_log"
  failed_tests+=$(sed -n "s/Errors while running CTest//; s/^\t *[0-9]* - \(.*)\)/\n    $preset: \1/p" "$last_log")
  return "$status"
}

build() {  # PRESET OPTION...
  if stage "build $1" configure_and_build "$@"; then built+="$1 "; fi
}

around=()
# Many tests wait for processes, or for time to pass: with as many at once as cpus a third of these is idle.
parallel=(--parallel $((jobs + (jobs + 1) / 2)))
slow='numa_vm|full'

finish() {
  printf '\n'
  if [ "$failed" ]; then
    printf 'FAILED after %d s: %s\n' "$SECONDS" "${failed#, }"
    [ -z "$failed_tests" ] || echo "${failed_tests#?}"
    exit 1
  fi
  printf 'All stages passed in %d s%s.\n' "$SECONDS" "$1"
  exit 0
}

if [ "$fast" ]; then
  build dev -- unit_tests
  run_ctest "unit and tidy tests" dev "${parallel[@]}" -L '^(unit|tidy)$' -LE 'full|lab'
  build model
  run_ctest "model tests" model
  finish " (fast set)"
fi

build dev
# In the full set every program is installed; in the usual one those of the tests that it runs, less what the docs show.
around=(${full:+env NIGH_REQUIRE_PROGRAMS=1})
run_ctest "tests" dev "${parallel[@]}" -LE "$slow"
around=()
if [[ $built == *" dev "* ]]; then
  stage "public headers, each by itself" "$cmake" --build build/dev --parallel "$jobs" \
    --target all_verify_interface_header_sets
fi

build model
run_ctest "model tests" model "${parallel[@]}"

# ThreadSanitizer's memory layout does not fit every kernel's address randomisation.
personality=()
if setarch -R true 2>/dev/null; then personality=(setarch -R); fi
if [ "$full" ]; then
  build asan -DNIGH_WORKLOADS=ON -DNIGH_TOOLS=ON
  run_ctest "tests, address and undefined behaviour" asan "${parallel[@]}" -LE "$slow|tidy"
  build tsan -DNIGH_TOOLS=ON
  around=("${personality[@]}")
  run_ctest "tests, data races" tsan "${parallel[@]}" -LE "$slow|tidy" -E '^(cli_sim|sim_links)$'  # one thread
  around=()
  build chaos -- runtime_test loops_test tasks_stress forks_stress openmp_tasks_stress
  run_ctest "tests, threads held up at random" chaos -R \
    '^(runtime_fork_join_test|runtime_scope_test|runtime_spawn_test|loops_task_loop_test|tasks_stress|forks_stress|openmp_tasks_stress)$'
else
  # Where threads meet without locks. All else under sanitizers takes longer than all other stages together.
  build tsan -DNIGH_TOOLS=OFF -- tasks_stress forks_stress openmp_tasks_stress
  around=("${personality[@]}")
  run_ctest "stress, data races" tsan "${parallel[@]}" -R '^(tasks_stress|forks_stress|openmp_tasks_stress)$'
  around=()
fi

# Here a machine that cannot be booted, or a program that is not there, is a failure, not a skipped test.
export NIGH_REQUIRE_NUMA_VM=1 NIGH_REQUIRE_PROGRAMS=1 NIGH_REQUIRE_HOSTS=1 NIGH_REQUIRE_PACKAGES=1
run_ctest "tests in a machine with NUMA" dev --parallel "$jobs" -L '^numa_vm$'

quick_benches() {
  local driver name
  for driver in build/release/libexec/nigh/nigh-bench-*; do
    name=${driver##*/nigh-bench-}
    echo "== $name"
    build/release/bin/nigh bench "$name" --quick || return
  done
}

if [ "$full" ]; then
  build release -DNIGH_TESTS=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
  build clang
  run_ctest "tests, built by clang" clang "${parallel[@]}" -LE "$slow|tidy"
  run_ctest "long runs" dev "${parallel[@]}" -L '^full$'
  build fuzz -- fuzz_targets
  if [[ $built == *" fuzz "* ]] && stage "fuzzing, a minute each" tests/fuzz/run.py --seconds 60 --jobs "$jobs"; then
    cat "$last_log"
  fi
  run_ctest "tests in every machine with NUMA" dev --parallel "$jobs" -L '^numa_vm_full$'
  stage "every benchmark, a short run" quick_benches
fi

finish "${full:+ (full set)}"
