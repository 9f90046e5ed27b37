#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input to a benchmark driver: one line on standard error that names the argument, exit code 2,
nothing on standard output, no file left behind. And: a good run writes what it says.

bench_bad_input_test.py FOLDER_OF_DRIVERS
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

DRIVERS = sys.argv.pop(1)
COUNTS = {  # of each command, the options that take a positive number
    "cluster": ["--ranks", "--repetitions"],
    "coordinator": ["--programs", "--repetitions", "--requests", "--seed"],
    "jacobi3d": ["--pending-limit", "--repetitions", "--sweeps", "--threads"],
    "algorithms": ["--algorithms", "--orders", "--repetitions", "--sizes", "--threads", "--types"],
    "compile": ["--repetitions"],
    "loops": ["--elements", "--repetitions", "--rows", "--threads"],
    "mg": ["--repetitions", "--threads"],
    "openmp-tasks": ["--repetitions", "--threads"],
    "spread": ["--cache-steps", "--iterations", "--repetitions", "--threads"],
    "tasks": ["--repetitions", "--tasks", "--threads"],
    "temporal": ["--repetitions", "--rows", "--steps", "--threads", "--widths"],
}
HAS_RANKS = any(name.startswith("cluster-tasks-") for name in os.listdir(DRIVERS))


def run(bench, *args, env=None):
    driver = os.path.join(DRIVERS, f"nigh-bench-{bench}")
    return subprocess.run([driver, *args], capture_output=True, text=True, timeout=240, check=False, env=env)


class BadInput(unittest.TestCase):
    def refuses(self, argument, bench, *args):
        with self.subTest(args=args), tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "r.json")
            done = run(bench, *args, *([] if "--json" in args else ["--json", target]))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith(f"nigh bench {bench}: "), done.stderr)
            self.assertIn(argument, done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_counts(self):
        drivers = {name for name in os.listdir(DRIVERS) if name.startswith("nigh-bench-")}
        self.assertEqual(drivers, {f"nigh-bench-{bench}" for bench in COUNTS})
        for bench, options in COUNTS.items():
            for option in options:
                for value in ("0", "-1"):
                    self.refuses(option, bench, "--quick", f"{option}={value}")

    def test_sizes(self):
        for grid in ("0", "-5", "0x10x10", "10x-1x10", "10x10", "x", "", "10x10x10x10", "1e3"):
            if grid:
                self.refuses("--grid", "jacobi3d", f"--grid={grid}")
        self.refuses("--grid", "jacobi3d", "--grid=99999999999999999999")
        self.refuses("--grid", "jacobi3d", "--grid=4000000000x4000000000x4000000000")
        self.refuses("--grid", "jacobi3d", "--grid=2000000x2000000x2000000")
        self.refuses("--block", "jacobi3d", "--quick", "--block=0x1x1")
        self.refuses("--block", "jacobi3d", "--quick", "--block=601x10x10")
        self.refuses("--block", "jacobi3d", "--grid=8", "--block=8x9x8")

    def test_out_of_memory_names_bytes_asked_and_available(self):
        done = run("jacobi3d", "--grid=100000x10000x10000", "--variant=serial")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, r"\d+.*bytes.*\d+|\d+.*available")

    def test_threads_and_cpus(self):
        self.refuses("--threads", "jacobi3d", "--quick", "--threads=100000")
        self.refuses("--threads", "tasks", "--quick", "--threads=100000")
        for threads in ("1", "100000"):
            self.refuses("--threads", "loops", "--quick", f"--threads={threads}")
        self.refuses("--topology", "jacobi3d", "--quick", "--topology=77777")
        self.refuses("--topology", "jacobi3d", "--quick", "--topology=0-")

    def test_names(self):
        self.refuses("--variant", "jacobi3d", "--quick", "--variant=fastest")
        self.refuses("--init", "jacobi3d", "--quick", "--init=random")
        self.refuses("--order", "jacobi3d", "--quick", "--order=ijk")
        self.refuses("--stores", "jacobi3d", "--quick", "--stores=big")
        self.refuses("--isa", "jacobi3d", "--quick", "--isa=z80")
        self.refuses("--pages", "jacobi3d", "--quick", "--pages=medium")
        self.refuses("--fast", "jacobi3d", "--fast")
        for problem in ("fob", "fib,", "fib:", "fib:x", "uts:T9", "sparselu:5", "strassen:100",
                        "nqueens:99", "quicksort:-1", ",fib"):
            self.refuses("--problem", "tasks", "--quick", f"--problem={problem}")
        self.refuses("--cutoff", "tasks", "--quick", "--cutoff=-1")
        self.refuses("--program", "openmp-tasks", "--quick", "--program=fib,chess")
        self.refuses("--tasks", "openmp-tasks", "--quick", "--tasks=sometimes")
        self.refuses("--rows", "loops", "--quick", "--rows=99999999")

    def test_mg(self):
        for classes in ("X", "A,", ",", "AB"):
            self.refuses("--classes", "mg", f"--classes={classes}")
        for threads in ("1,", "x", "100000"):
            self.refuses("--threads", "mg", "--quick", f"--threads={threads}")
        self.refuses("--variants", "mg", "--quick", "--variants=openmp/guided")
        self.refuses("--bind", "mg", "--quick", "--bind=spread")
        self.refuses("--mem", "mg", "--quick", "--mem=local")
        self.refuses("--isa", "mg", "--quick", "--isa=z80")

    def test_spread(self):
        for argument, value in (("--blocks", "0"), ("--blocks", "1,,2"), ("--memory", "0"), ("--memory", "1.5"),
                                ("--sends", "late"), ("--spreads", "0"), ("--spreads", "100000"), ("--active", "x"),
                                ("--rows", "few"), ("--variants", "fastest"), ("--isa", "z80"),
                                ("--cache-points", "-5")):
            self.refuses(argument, "spread", f"{argument}={value}")

    def test_temporal(self):
        for argument, value in (("--widths", "1"), ("--widths", "8,"), ("--widths", "61"), ("--rows", "x"),
                                ("--obstacles", "some"), ("--grid", "0"), ("--isa", "z80")):
            self.refuses(argument, "temporal", "--quick", f"{argument}={value}")
        self.refuses("--variant", "temporal", "--quick", "--variant=openmp/tiles", "--widths=8")
        self.refuses("--variant", "temporal", "--quick", "--variant=openmp/temporal")
        self.refuses("--widths", "temporal", "--quick", "--variant=nigh/temporal", "--widths=4,8")
        self.refuses("--init", "temporal", "--quick", "--variant=nigh/temporal", "--init=random")
        self.refuses("--grid", "temporal", "--grid=8x8x1", "--variant=nigh/temporal")
        for argument, value in (("--variant", "nigh/temporal"), ("--widths", "8"), ("--rows", "4"),
                                ("--obstacles", "no"), ("--isa", "baseline"), ("--plot", "x.svg"),
                                ("--pages", "huge"), ("--init", "ld0")):
            self.refuses(argument, "temporal", "--quick", "--problems", f"{argument}={value}")
        self.refuses("--search", "temporal", "--quick", "--search", "--variant=nigh/temporal")
        self.refuses("--report", "temporal", "--quick", "--report")
        self.refuses("--init", "temporal", "--quick", "--init=ld0")
        self.refuses("--steps", "temporal", "--quick", "--variant=nigh/temporal", "--steps=5000", "--report")

    def test_mg_as_a_plain_program(self):
        for argument, value in (("--class", "X"), ("--variant", "fastest"), ("--bind", "spread"),
                                ("--mem", "bind"), ("--threads", "0"), ("--threads", "-1"), ("--isa", "z80")):
            done = subprocess.run([os.path.join(DRIVERS, "npb-mg"), argument, value],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, rf"^npb-mg: {argument}: [^\n]*\n$")
        done = subprocess.run([os.path.join(DRIVERS, "npb-mg"), "--class=S", "--variant=nigh/runtime"],
                              env={**os.environ, "NIGH_SCHEDULE": "sometimes"},
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("NIGH_SCHEDULE", done.stderr)

    def test_coordinator(self):
        for argument, value in (("--programs", "many"), ("--set", "7"), ("--fast", "1")):
            self.refuses(argument, "coordinator", "--quick", "--policies", f"{argument}={value}")
        for argument, value in (("--command", " "), ("--command", "no-such-program"),
                                ("--command", "echo 'x"), ("--command", "/etc/passwd"), ("--commands", "/nowhere"),
                                ("--commands", "/"), ("--commands", "/dev/null"), ("--way", "x"), ("--way", "x=Y"),
                                ("--way", "nigh=X=1"), ("--beside", "/nowhere"), ("--ignore", "("), ("--limit", "0")):
            self.refuses(argument, "coordinator", "--quick", "--command=true", f"{argument}={value}")
        for needless in ("--alone", "--way=x=Y=1", "--beside=true", "--ignore=x", "--limit=5"):
            self.refuses(needless.split("=")[0], "coordinator", "--quick", needless)

    def test_cluster(self):
        if not HAS_RANKS:
            return self.refuses("--mpi", "cluster", "--quick")
        for argument, value in (("--mpi", "lam"), ("--ranks", "1"), ("--ranks", "1000"), ("--reps", "x"), ("--only", "fob"),
                                ("--only", "uts:T9"), ("--only", "jacobi3d:0"), ("--only", "fib,"),
                                ("--policies", "half"), ("--policies", "near+half"),
                                ("--launcher", "mpirun -n 2"), ("--launcher", "/no/such {ranks}"),
                                ("--launcher", "false {ranks}"), ("--launcher", "sh -c exit {ranks}")):
            self.refuses(argument, "cluster", "--quick", f"{argument}={value}")
        done = run("cluster", "--quick", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"^nigh bench cluster: --mpi: [^\n]* in PATH\n$")

    def test_a_launcher_that_starts_too_few_is_found_out(self):
        if HAS_RANKS:
            done = run("cluster", "--quick", "--launcher", "env RANKS={ranks}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"--launcher: .* has started 1 ranks instead of 2\n$")

    def test_files(self):
        for bench in ("algorithms", "coordinator", "jacobi3d", "loops", "mg", "openmp-tasks", "spread", "tasks", "temporal") + ("cluster",) * HAS_RANKS:
            self.refuses("--json", bench, "--quick", "--json", "/nowhere/at/all.json")
            self.refuses("--json", bench, "--quick", "--json", "/")
            self.refuses("--plot", bench, "--quick", "--plot", "/nowhere/at/all.svg")
            self.refuses("--plot", bench, "--quick", "--plot", "figure.pdf")


class GoodInput(unittest.TestCase):
    def test_every_line_has_the_schema_and_every_field_is_verified(self):
        done = run("jacobi3d", "--quick", "--grid=40x24x20", "--block=40x5x3", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        measured = [line for line in lines if line.get("metric") == "rate"]
        self.assertTrue(any(line["variant"] == "nigh/queues" for line in measured))
        for line in measured:
            self.assertIs(line["verified"], True, line["variant"])
            self.assertEqual(len(line["samples"]), 3)
            for key in ("commit", "compiler", "flags", "machine", "topology", "date"):
                self.assertTrue(line["run"][key])
        self.assertIn("submit order", done.stderr)

    def test_one_variant_alone_reports_every_block(self):
        done = run("jacobi3d", "--variant=nigh/queues", "--init=cyclic", "--order=jki",
                   "--grid=40x24x20", "--block=40x5x3", "--sweeps=3", "--report")
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        self.assertEqual(facts["verified"], "yes")
        blocks = sum(int(facts[f"blocks_{k}"]) for k in ("local", "remote", "unknown"))
        self.assertEqual(blocks, 3 * 5 * 7)

    def test_loops(self):
        done = run("loops", "--quick", "--json", "-")
        if os.cpu_count() == 1:
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for bench in ("rendezvous", "triad", "triangle"):
            variants = {line["variant"].split("/")[0] for line in lines if line["bench"] == f"loops/{bench}"}
            self.assertLessEqual({"nigh", "tbb"}, variants)
        for line in lines:
            self.assertIs(line.get("verified", True), True, line["variant"])

    def test_tasks(self):
        done = run("tasks", "--quick", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertIn("nigh/idle", [line["variant"] for line in lines])
        cells = [line for line in lines if line["bench"] == "tasks/matrix"]
        problems = {line["params"]["problem"] for line in cells}
        self.assertEqual(problems, {"fib", "nqueens", "uts", "sparselu", "strassen", "mergesort",
                                    "quicksort"})
        for line in cells:
            if "absent" not in line:
                self.assertIs(line["verified"], True, line["variant"])
                self.assertEqual(len(line["samples"]), 2)
                self.assertGreater(line["counters"]["ratio_to_serial"], 0)

    def test_openmp_tasks(self):
        done = run("openmp-tasks", "--quick", "--program", "fib,sparselu for", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        times = [line for line in lines if line["bench"] == "openmp-tasks"]
        self.assertEqual({line["params"]["problem"] for line in times}, {"fib", "sparselu for"})
        self.assertTrue({"nigh", "openmp-gcc/plain", "openmp-gcc/nigh", "openmp-clang/plain"}
                        <= {line["variant"] for line in times})
        for line in times:
            if "absent" not in line:
                self.assertTrue(line["verified"], line)
                self.assertEqual(len(line["samples"]), 1, line)
        counted = [line for line in lines if line["bench"] == "openmp-tasks/characteristics"]
        self.assertEqual(len(counted), 4 if any("absent" not in t for t in times if "/nigh" in t["variant"]) else 0)

    def test_temporal(self):
        done = run("temporal", "--quick", "--widths=4,10", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        bounds = {line["variant"]: line["median"] for line in lines if line["variant"] in ("limit", "cores")}
        self.assertGreater(bounds["limit"], 0)
        self.assertGreater(bounds["cores"], 0)
        rates = [line for line in lines if "absent" not in line and "obstacles" in line["params"]]
        self.assertLessEqual({"nigh/temporal", "nigh/temporal 4", "nigh/temporal 10", "nigh/queues"},
                             {line["variant"] for line in rates})
        self.assertEqual({line["params"]["obstacles"] for line in rates}, {"no", "yes"})
        for line in rates:
            self.assertIs(line["verified"], True, line["variant"])
            self.assertEqual(len(line["samples"]), 2)
        done = run("temporal", "--quick", "--search", "--widths=4,10", "--obstacles=no", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["variant"] for line in done.stdout.splitlines()],
                         ["nigh/queues", "nigh/temporal", "nigh/temporal 4", "nigh/temporal 10", "limit"] +
                         ["cpus"] * (len(os.sched_getaffinity(0)) > 1) + ["cores", "empty tile"])
        done = run("temporal", "--quick", "--problems", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({(line["params"]["problem"], line["variant"], line["verified"]) for line in lines},
                         {(problem, variant, True) for problem in ("heat2d", "diffusion3d", "lbm")
                          for variant in ("nigh/sweeps", "nigh/temporal")})
        done = run("temporal", "--quick", "--problems", "--search", "--widths=2,50", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({(line["variant"], line["params"]["width"]) for line in lines
                          if line["params"]["problem"] == "lbm" and line["variant"] != "nigh/temporal"},
                         {("nigh/sweeps", 0), ("nigh/temporal 2", 2), ("nigh/temporal 50", 0)})  # 28 planes
        done = run("temporal", "--quick", "--problems", "--search")
        self.assertEqual(done.returncode, 0, done.stderr)
        for problem in ("heat2d", "diffusion3d", "lbm"):
            self.assertRegex(done.stdout, rf"\n{problem}: tiles of the chosen width, \d+, beside the best of those "
                                          r"searched \(\d+\): \d\.\d\d\n")

    def test_mg(self):
        done = run("mg", "--quick", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        measured = [line for line in lines if "absent" not in line]
        self.assertIn("nigh/fused", [line["variant"] for line in measured])
        for line in measured:
            self.assertIs(line["verified"], True, line["variant"])
            self.assertEqual(len(line["samples"]), 2)
            self.assertEqual(line["params"]["class"], "S")
        for line in lines:
            self.assertTrue("samples" in line or line["absent"], line["variant"])

    def test_cluster(self):
        if not HAS_RANKS:
            return
        done = run("cluster", "--quick", "--only=fib,jacobi3d", "--policies=random+half", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(line["params"]["problem"], line["variant"]) for line in lines],
                         [("fib", "shared/1"), ("fib", "shared/2"), ("fib", "ranks/random+half"),
                          ("jacobi3d", "shared/1"), ("jacobi3d", "shared/2"), ("jacobi3d", "ranks/2")])
        for line in lines:
            self.assertIs(line["verified"], True, line["variant"])
            self.assertEqual(len(line["samples"]), 2)
            self.assertGreater(line["counters"]["speed_up"], 0)

    def test_cluster_latency(self):
        if not HAS_RANKS:
            return
        done = run("cluster", "--quick", "--only=latency", "--reps=1", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line["variant"]: line for line in map(json.loads, done.stdout.splitlines())}
        self.assertLessEqual({"request/busy-1000", "answer/busy-1000", "plain/busy-1000", "ping-pong/messages",
                              "steal/messages", "steal/window"},
                             set(lines))
        for line in lines.values():
            self.assertTrue("absent" in line or min(line["samples"]) > 0, line["variant"])
        for name in "request/busy-100", "answer/busy-100", "plain/busy-100":
            said = lines[name]["counters"]
            self.assertLessEqual(said["share_after_task"], said["share_after_task_or_fallback"])
            self.assertLess(0, said["share_after_task_or_fallback"])
            self.assertLessEqual(said["late_median_us"], said["late_p90_us"])
            self.assertLessEqual(said["late_p90_us"], said["late_max_us"])
        self.assertEqual(lines["steal/window"]["counters"].get("promised_us", 0.3), 0.3)
        self.assertGreater(lines["steal/messages"]["counters"]["over_ping_pong"], 0)

    def test_spread(self):
        done = run("spread", "--quick", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        threads = len(os.sched_getaffinity(0))
        measured = [line for line in lines if "absent" not in line]
        self.assertEqual({line["bench"] for line in lines},
                         {"spread/grid", "spread/cache", "spread/programs"})
        programs = [line for line in measured if line["bench"] == "spread/programs"]
        self.assertEqual({line["params"]["program"] for line in programs},
                         {"jacobi3d", "npb-mg", "sparselu"})
        for line in programs:
            self.assertIs(line["verified"], True, line["params"])
        measured = [line for line in measured if line["bench"] != "spread/programs"]
        self.assertEqual({line["params"]["sends"] for line in measured}, {"early", "none"})
        for line in measured:
            self.assertIs(line["verified"], True, line["variant"])
            self.assertEqual(len(line["samples"]), 2)
        fixed = {(line["params"]["spread"], line["params"]["active"])
                 for line in measured if line["variant"] == "nigh/spread"}
        self.assertLessEqual({(1, threads), (threads, threads)}, fixed)
        chosen = [line["counters"] for line in measured if line["variant"] == "nigh/auto"]
        self.assertTrue(chosen)
        for counters in chosen:
            self.assertGreater(counters["iterations_to_hold"], 0)
            self.assertLessEqual(1, counters["chosen_spread"])
            self.assertLessEqual(counters["chosen_spread"], counters["chosen_active"])
            self.assertLessEqual(counters["chosen_active"], threads)
            self.assertGreater(counters["time_over_best"], 0)

    def test_coordinator_policies(self):
        done = run("coordinator", "--policies", "--quick", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        machines = {line["params"]["machine"] for line in lines}
        self.assertEqual(len(lines), 5 * len(machines))
        for line in lines:
            # Adjusting keeps teams together on any machine and with any requests, even a few.
            if line["variant"] == "clustered-adjusting":
                self.assertLess(line["counters"]["of_random"], 0.6, line["params"]["machine"])
                self.assertLess(line["counters"]["of_nearest"], 1, line["params"]["machine"])
                self.assertGreater(line["counters"]["decision_p99_us"], 0)

    def test_coordinator_throughput(self):
        done = run("coordinator", "--throughput", "--quick", "--programs=4", "--reps=1", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line["variant"]: line for line in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(set(lines), {"sequential", "together", "fixed", "coordinator"})
        for line in lines.values():
            self.assertTrue(line.get("absent") or line["verified"], line)
        joules = lines["sequential"]["counters"]["energy_j"]
        self.assertEqual(joules is None, "energy: not available here" in done.stderr)
        self.assertTrue(joules is None or joules > 0, joules)

    def test_coordinator_throughput_of_programs_that_come_one_by_one(self):
        done = run("coordinator", "--throughput", "--quick", "--set=large", "--programs=5", "--seed=3", "--reps=1",
                   "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("programs and sizes at random, seed 3; one comes every 0.01 s on average", done.stderr)
        lines = {line["variant"]: line for line in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(set(lines), {"sequential", "together", "fixed", "coordinator/simple", "coordinator/nearest",
                                      "coordinator/clustered-adjusting"})
        for line in lines.values():
            self.assertEqual((line["params"]["programs"], line["params"]["seed"]), (5, 3))
            if not line.get("absent"):
                self.assertTrue(line["verified"], line)
                # Small ones may have run on shared cpus and ended before it was their turn.
                self.assertIn(line["counters"].get("programs_granted", 5), range(1, 6))
                self.assertLess(0, line["counters"]["mean_end_s"])
                self.assertLess(line["counters"]["mean_end_s"], line["samples"][0])

    def commands(self, *args):
        done = run("coordinator", "--quick", "--json", "-", *args)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if any("absent" in line for line in lines):
            self.skipTest("nothing can be preloaded here")
        return done, lines

    def test_coordinator_commands_print_the_same_in_all_ways(self):
        done, lines = self.commands(
            "--command=echo a  b", "--command=sh -c 'echo $OMP_NUM_THREADS; date +%s%N'", "--command=cat /proc/uptime",
            "--alone", "--ignore=^[0-9]{10,}$", "--way=three=OMP_NUM_THREADS=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        ways = {line["variant"]: line for line in lines if line["bench"] == "coordinator/commands"}
        self.assertEqual(list(ways), ["default", "sequential", "one-thread", "passive", "nigh", "three"])
        for name, line in ways.items():
            self.assertEqual((len(line["samples"]), line["params"]["commands"]), (2, 3), name)
            counters = line["counters"]
            self.assertEqual(counters["exit_codes"], "0 0 0", name)
            self.assertIn(counters["best"], ways)
            hashes = counters["hashes"].split()
            default = ways["default"]["counters"]["hashes"].split()
            self.assertEqual(hashes[0], default[0], name)
            self.assertEqual(hashes[1] == default[1], name not in ("one-thread", "three"), name)
        self.assertIs(ways["nigh"]["verified"], True)
        self.assertEqual(ways["nigh"]["counters"]["outputs"], "2 same, 1 varies")
        self.assertEqual(ways["three"]["params"]["environment"], "OMP_NUM_THREADS=3")
        alone = [line["variant"] for line in lines if line["bench"] == "coordinator/command"]
        self.assertEqual(alone, ["default", "nigh"] * 3)

    def test_coordinator_commands_run_beside_another_that_is_begun_anew_and_ends_with_them(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            done, lines = self.commands(
                f"--command=sh -c 'until [ \"$(cat {log} | wc -l)\" -ge 3 ]; do sleep 0.01; done; rm {log}; echo x'",
                f"--beside=sh -c 'echo >>{log}; sleep 0.02'", f"--beside=sleep 987{os.getpid()}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"beside, without nigh: sh -c 'echo >>{log}; sleep 0.02'\n", done.stderr)
            self.assertEqual(lines[0]["params"]["beside"].count(";"), 2)
        running = subprocess.run(["pgrep", "-f", f"sleep 987{os.getpid()}"], capture_output=True, check=False)
        self.assertEqual(running.stdout, b"")

    def test_coordinator_commands_that_differ_under_nigh_or_fail_are_told(self):
        done, lines = self.commands("--command=sh -c 'echo ${NIGH_SOCKET:+x}; exit 7'")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("failed: nigh: command 1: exit status 7\n", done.stderr)
        nigh = lines[-1]
        self.assertEqual((nigh["verified"], nigh["counters"]["outputs"]), (False, "DIFFER"))
        done, lines = self.commands("--command=sh -c 'echo ${NIGH_SOCKET:+x}'")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([line.get("verified") for line in lines], [None] * 4 + [False])

    def test_npb_mg_runs_on_the_threads_it_says(self):
        cpus = sorted(os.sched_getaffinity(0))
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "NIGH_"))}
        def said(words, environment=None):
            done = subprocess.run([os.path.join(DRIVERS, "npb-mg"), "--class=S", *words], check=False, timeout=240,
                                  env=dict(plain, **(environment or {})), capture_output=True, text=True)
            return next((line.split("=")[1].strip() for line in done.stdout.splitlines() if "Threads" in line),
                        done.stderr)
        self.assertEqual(said(["--variant=serial"]), "1")
        self.assertEqual(said(["--variant=nigh/local"], {"NIGH_WORKERS": "1"}), "1")
        self.assertEqual(said(["--variant=nigh/local"]), str(len(cpus)))
        if len(cpus) > 1:
            self.assertEqual(said(["--variant=nigh/local", "--threads=2"], {"NIGH_CPUS": str(cpus[0])}), "2")

    def test_mg_as_a_plain_program(self):
        done = subprocess.run([os.path.join(DRIVERS, "npb-mg"), "--class=S", "--threads=1",
                               "--variant=nigh/local", "--bind=compact", "--report"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Verification    = SUCCESSFUL", done.stdout)
        self.assertRegex(done.stdout, r"Mop/s total     = \d+\.\d\d\n")
        self.assertRegex(done.stdout, r"\npages_of_u \d+")

    def test_chosen_problems_with_a_cutoff(self):
        done = run("tasks", "--problem=fib:12,uts:T1-tiny", "--cutoff=2", "--threads=1",
                   "--repetitions=1", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        sizes = {(line["params"]["problem"], line["params"]["size"]) for line in lines}
        self.assertEqual(sizes, {("fib", "12"), ("uts", "T1-tiny")})
        self.assertEqual({line["params"]["cutoff"] for line in lines}, {2})

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cpus")
    def test_parts_of_tasks(self):
        done = run("tasks", "--latency", "--fib", "--oversubscribed", "--quick", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        metrics = {line["metric"] for line in lines if "absent" not in line}
        self.assertLessEqual({"rendezvous", "steal", "round_trip", "time_per_spawn"}, metrics)
        self.assertEqual({line["bench"] for line in lines},
                         {"tasks/latency", "tasks/fib", "tasks/oversubscribed"})
        self.assertNotIn(False, [line.get("verified") for line in lines])


if __name__ == "__main__":
    unittest.main()
