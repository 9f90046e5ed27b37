#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer's programs (cmake --preset fuzz), each from its corpus in tests/fuzz/corpus:

    tests/fuzz/run.py [--build build/fuzz] [--seconds 60] [--jobs 2] [--keep FOLDER] [KIND...]

Prints for each how many inputs it has tried and how many edges of the code it has seen, then how many
lines of each parser were run. An input that ends a program is a finding: it is kept in BUILD/findings,
and the status is 1. --keep: there the inputs stay that have shown new code."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Each kind, and the files whose lines it is to run.
PARSERS = {
    "codec": ["src/coordinator/protocol/codec.cpp"],
    "coordinator": ["src/coordinator/core/coordinator.cpp", "src/coordinator/core/serve.cpp",
                    "src/coordinator/core/line.cpp", "src/coordinator/core/want.cpp",
                    "src/coordinator/core/quotas.cpp", "src/coordinator/core/regions.cpp"],
    "region_profile": ["src/coordinator/profile/region_profile.cpp", "src/json/bounded.cpp"],
    "machine": ["lab/sim/machine_file.cpp", "lab/sim/json_lines.cpp"],
    "recorded_trace": ["lab/sim/replay/recorded.cpp"],
    "topology_xml": ["src/topology/load.cpp", "src/platform/answering_child.cpp"],
    "topology_shape": ["src/topology/builder.cpp", "src/topology/domains.cpp", "src/topology/distances.cpp",
                       "src/topology/restrict.cpp", "src/topology/picture.cpp", "src/topology/orders.cpp"],
    "learnt_spreads": ["src/settings/learnt_spreads.hpp"],
    "elf": ["src/platform/elf.cpp", "src/platform/elf_functions.cpp"],
    "rank_traces": ["src/cli/merge_traces.cpp", "src/cli/traced_run.cpp"],
    "region_times": ["src/cli/profile/region_times.cpp"],
    "tuned_profile": ["src/cli/run/profile.cpp", "src/cli/run/request.cpp", "src/cli/run/places.cpp"],
    "program_output": ["src/cli/tune/metric.cpp", "src/cli/tune/last_words.cpp"],
    "status_answers": ["src/cli/status_json.cpp"],
}

# Longer inputs would only be slower.
LONGEST = {"codec": 4096, "coordinator": 2000, "topology_shape": 400}


def program(build, kind):
    return build / "tests" / "fuzz" / f"{kind}_fuzz"


def run(build, kind, seconds, folder, keep):
    """One program: (kind, inputs tried, edges seen, inputs kept, status, seconds of cpu)."""
    corpus = folder / kind
    if keep:
        corpus = keep / kind
    shutil.copytree(HERE / "corpus" / kind, corpus, dirs_exist_ok=True)
    findings = build / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    words = [program(build, kind), corpus, f"-max_total_time={seconds}", f"-artifact_prefix={findings}/{kind}-",
             f"-max_len={LONGEST.get(kind, 16384)}", "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1"]
    dictionary = HERE / "dictionaries" / f"{kind}.txt"
    if dictionary.exists():
        words.append(f"-dict={dictionary}")
    started = time.monotonic()
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", env={"LLVM_PROFILE_FILE": str(folder / f"{kind}.profraw"),
                                                 "PATH": "/usr/bin:/bin"})
    (build / "findings" / f"{kind}.log").write_text(done.stdout)
    last = re.findall(r"cov: (\d+) .*?corp: (\d+)", done.stdout)
    tried = re.findall(r"stat::number_of_executed_units:\s*(\d+)", done.stdout)
    edges, kept = last[-1] if last else ("-", "-")
    return kind, tried[-1] if tried else "-", edges, kept, done.returncode, time.monotonic() - started


def lines_of(build, kinds, folder):
    """(file, lines that were run, lines) of each parser of these kinds."""
    found = {}
    for kind in kinds:
        raw, merged = folder / f"{kind}.profraw", folder / f"{kind}.profdata"
        if not raw.exists():
            continue
        subprocess.run(["llvm-profdata-19", "merge", "-sparse", raw, "-o", merged], check=True)
        said = subprocess.run(["llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}", program(build, kind)],
                              check=True, capture_output=True, text=True).stdout
        for file in json.loads(said)["data"][0]["files"]:
            for parser in PARSERS[kind]:
                if file["filename"].endswith("/" + parser):
                    lines = file["summary"]["lines"]
                    found[parser] = (lines["covered"], lines["count"])
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build" / "fuzz")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--keep", type=pathlib.Path)
    arguments.add_argument("kinds", nargs="*", metavar="KIND")
    given = arguments.parse_args()
    unknown = set(given.kinds) - set(PARSERS)
    if unknown:
        arguments.error(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(PARSERS)}")
    kinds = given.kinds or list(PARSERS)
    missing = [p for kind in kinds for p in PARSERS[kind] if not (HERE.parents[1] / p).is_file()]
    if missing:
        sys.exit(f"run.py: PARSERS names what is not there: {', '.join(missing)}")
    failed = []
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        folder = pathlib.Path(name)
        print(f"{'kind':16}{'inputs':>12}{'edges':>8}{'kept':>7}{'s':>6}")
        for kind, tried, edges, kept, status, took in pool.map(
                lambda k: run(given.build, k, given.seconds, folder, given.keep), kinds):
            print(f"{kind:16}{tried:>12}{edges:>8}{kept:>7}{took:6.0f}" + ("" if status == 0 else "  FAILED"), flush=True)
            if status != 0:
                failed.append(kind)
        print(f"\n{'parser':46}{'lines run':>12}{'of':>6}")
        for parser, (ran, all_lines) in lines_of(given.build, kinds, folder).items():
            print(f"{parser:46}{ran:>12}{all_lines:>6}{100 * ran / max(1, all_lines):6.0f}%")
    for kind in failed:
        log = given.build / "findings" / f"{kind}.log"
        print(f"\n{kind}: {log}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-40:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
