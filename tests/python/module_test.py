#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of module nigh that need nothing beside Python: module_test.py BUILD [unittest arguments]."""
import dataclasses
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import here
import nigh


class Machine(unittest.TestCase):
    def test_this_host_is_as_the_command_says(self):
        said = json.loads(subprocess.run([os.path.join(here.BIN, "nigh"), "topo", "--json"], text=True, capture_output=True,
                                         check=True).stdout)
        machine = nigh.topology()
        self.assertTrue(machine.is_this_host)
        self.assertEqual(list(machine.cpus), said["cpus"])
        self.assertEqual([list(domain.cpus) for domain in machine.domains], [domain["cpus"] for domain in said["domains"]])
        self.assertEqual(machine.domain_of(machine.cpus[0]).index, 0)
        with self.assertRaisesRegex(KeyError, "no domain has cpu 99999"):
            machine.domain_of(99999)
        with self.assertRaises(dataclasses.FrozenInstanceError):
            machine.cores = 3

    def test_another_machine(self):
        machine = nigh.topology(synthetic="pack:2 numa:1 l3:1 core:2 pu:2")
        self.assertFalse(machine.is_this_host)
        self.assertEqual([domain.cpus for domain in machine.domains], [(0, 1, 2, 3), (4, 5, 6, 7)])
        self.assertEqual((machine.cores, machine.domain_of(5).index), (4, 1))
        self.assertEqual([(cache.name, cache.cpus) for cache in machine.caches], [("L3", (0, 1, 2, 3)), ("L3", (4, 5, 6, 7))])
        self.assertEqual([len(row) for row in machine.distances], [2, 2])
        self.assertEqual((machine.distances[0][0], machine.distances_source), (10, "levels"))
        self.assertEqual(machine.levels["core"], ((0, 1), (2, 3), (4, 5), (6, 7)))
        self.assertEqual(set(machine.scatter["domain"][:2]), {0, 4})

    def test_no_machine(self):
        with self.assertRaisesRegex(nigh.NighError, "nonsense"):
            nigh.topology(synthetic="nonsense")
        with self.assertRaisesRegex(nigh.NighError, "/no/such/file"):
            nigh.topology(xml="/no/such/file")
        with self.assertRaisesRegex(ValueError, "two machines"):
            nigh.topology(synthetic="pu:2", xml="machine.xml")

    def test_findings(self):
        said = nigh.doctor()
        self.assertEqual(said.facts["cpus_allowed"], len(nigh.topology().cpus))
        for finding in said.findings:
            self.assertTrue(finding.what and finding.why and finding.what_to_do)
            self.assertIn(finding.id, said)
        self.assertEqual("one-domain" in said, len(nigh.topology().domains) == 1)
        self.assertNotIn("no such finding", said)


class Programs(unittest.TestCase):
    def test_run(self):
        done = nigh.run(["sh", "-c", "echo $OMP_NUM_THREADS; exit 5"], options=["--threads", "1"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (5, "1\n"))
        with self.assertRaises(subprocess.CalledProcessError):
            nigh.run(["false"], options=["--threads", "1"], check=True)

    def test_commands_of_the_wheel_have_their_python(self):
        for asked in ({}, {"NIGH_PYTHON": "/another/python"}):
            code = "import sys; sys.argv = ['nigh', 'run', '--threads', '1', '--', 'sh', '-c', 'echo $NIGH_PYTHON']; " \
                   "from nigh._commands import nigh; nigh()"
            others = {name: value for name, value in os.environ.items() if name != "NIGH_PYTHON"}
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                                  env={**others, "PYTHONPATH": here.MODULE, **asked})
            self.assertEqual(done.stdout.strip(), asked.get("NIGH_PYTHON", sys.executable))

    def test_no_command(self):
        for function in (nigh.run, nigh.tune):
            with self.assertRaisesRegex(TypeError, "cmd is a list"):
                function("sh -c true")
            with self.assertRaisesRegex(ValueError, "cmd is empty"):
                function([])
        self.assertTrue(nigh.binary("nighd").is_file())
        with self.assertRaisesRegex(FileNotFoundError, "no command 'other'"):
            nigh.binary("other")

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "one cpu has one configuration")
    def test_tune(self):
        # One thread is best, whatever the machine does meanwhile.
        program = ["sh", "-c", "echo time $((${OMP_NUM_THREADS:-9} * 100))"]
        with tempfile.TemporaryDirectory() as folder:
            profile = os.path.join(folder, "profile.json")
            found = nigh.tune(program, metric="time ([0-9.]+)", budget="60s", output=profile)
            with open(profile, encoding="utf-8") as file:
                self.assertEqual(json.load(file), found.profile)
        self.assertTrue(found.is_complete)
        self.assertEqual((found.best.params["threads"], found.best.undisturbed), (1, 100))
        self.assertEqual(found.profile["threads"], 1)
        self.assertIn("--threads 1", found.best.options)
        self.assertIn("chance", found.text)
        as_it_is = next(one for one in found.configurations if not one.params)
        self.assertEqual(set(as_it_is.samples), {900})
        self.assertGreater(found.best.chance, as_it_is.chance)

    def test_options_are_a_list(self):
        for function in (nigh.run, nigh.tune):
            with self.assertRaisesRegex(TypeError, "options is a list of words"):
                function(["true"], options="--threads 1")

    one_run = ["--threads", "1", "--repetitions", "1", "--schedule", "static"]

    def test_tune_bears_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = os.path.join(folder, os.fsdecode(b"caf\xe9.json"))
            found = nigh.tune(["sh", "-c", "printf 'caf\\351 time 3\\n'", os.fsdecode(b"caf\xe9")], metric="time ([0-9]+)",
                              output=profile, options=self.one_run)
            self.assertEqual((found.best.undisturbed, found.profile_file), (3, profile))
            self.assertIn(profile, found.text)

    def test_the_profile_is_of_this_tuning(self):
        program, metric = ["echo", "time 10"], "time ([0-9]+)"
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "kept.json")
            first = nigh.tune(program, metric=metric, output=output, options=["--exhaustive", "--repetitions", "3",
                                                                             "--threads", "1", "--schedule", "static"])
            self.assertEqual((first.profile_file, first.profile["measured"]["runs"]), (output, 3))
            second = nigh.tune(program, metric=metric, output=output, options=self.one_run)
            self.assertEqual(second.profile_file, os.path.join(folder, "kept.new.json"))
            self.assertEqual(second.profile["measured"]["runs"], 1)
            self.assertIn("Profile in " + second.profile_file, second.text)
        self.assertIsNone(nigh.tune(program, metric=metric, options=self.one_run).profile_file)

    def test_an_interrupted_tuning(self):
        """Of this process alone, and of nigh as well, as by a terminal; with its exit status lost, as when the interrupt comes
        just as Python has read it, too."""
        code = ("import nigh, os, signal, sys\nprint('begins', flush=True)\n"
                "if sys.argv[2] == 'lost': signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                "try: nigh.tune(['sh', '-c', 'echo >> ' + sys.argv[1] + '; sleep 0.3'], output=sys.argv[1] + '.json', "
                "options=['--threads', '1', '--exhaustive', '--schedule', 'static', '--repetitions', '1000'])\n"
                "except KeyboardInterrupt as e: print(e.tuning.is_complete, len(e.tuning.best.samples) > 0, e.tuning.profile_file)")
        for tell, status in ((os.kill, "read"), (os.killpg, "read"), (os.killpg, "lost")):
            with tempfile.TemporaryDirectory() as folder:
                runs = os.path.join(folder, "runs")
                process = subprocess.Popen([sys.executable, "-c", code, runs, status], env={**os.environ, "PYTHONPATH": here.MODULE},
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
                end = time.monotonic() + here.SOON
                while not (os.path.exists(runs) and os.path.getsize(runs) > 3) and time.monotonic() < end:
                    time.sleep(0.05)
                tell(process.pid, signal.SIGINT)
                out, errors = process.communicate(timeout=here.SOON)
                self.assertEqual((out, errors), (f"begins\nFalse True {runs}.json\n", ""))
                self.assertTrue(os.path.exists(runs + ".json"))

    def test_a_chance_is_one_at_most(self):
        row = {"variant": "", "params": {}, "metric": "time", "undisturbed": 1, "interval": [1, 1], "samples": [1]}
        for said, chance in ((1.0000000000000007, 1), (-1e-17, 0), (0.5, 0.5)):
            self.assertEqual(nigh._programs._configuration({**row, "chance": said}).chance, chance)

    def test_nothing_to_tune(self):
        with self.assertRaisesRegex(nigh.NighError, "nigh: tune: .*status is 3"):
            nigh.tune(["sh", "-c", "exit 3"], budget="20s")


class Results(unittest.TestCase):
    def file(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "results.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    rows = [{"bench": "tasks", "variant": "nigh", "params": {"threads": 2}, "samples": [3, 1], "median": 2.0},
            {"bench": "tasks", "variant": "tbb", "params": {"threads": 2}, "absent": "is not installed"}]

    def lines(self):
        return self.file("\n".join(map(json.dumps, self.rows)) + "\n\n")

    def test_rows(self):
        self.assertEqual(nigh.read_results(self.lines(), frame=False), self.rows)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "python3-pandas is not installed")
    def test_frame(self):
        frame = nigh.read_results(self.lines())
        self.assertEqual(list(frame["params.threads"]), [2, 2])
        self.assertEqual(list(frame[frame["absent"].isna()]["median"]), [2.0])

    def test_without_pandas(self):
        """Python takes a module that is None for one that is not installed."""
        before = sys.modules.get("pandas", self)
        sys.modules["pandas"] = None
        try:
            self.assertEqual(nigh.read_results(self.lines()), self.rows)
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                nigh.read_results(self.lines(), frame=True)
        finally:
            del sys.modules["pandas"]
            if before is not self:
                sys.modules["pandas"] = before

    def test_a_line_that_is_not_utf8_is_named(self):
        path = self.file("{}\n")
        with open(path, "ab") as file:
            file.write(b'{"a": "\xe9"}\n')
        with self.assertRaisesRegex(ValueError, r"results\.jsonl:2: no JSON"):
            nigh.read_results(path)

    def test_wrong_files(self):
        for text, complaint in (('{"bench": 1}\n{"be', r"results\.jsonl:2: no JSON"), ("[1]\n", r":1: not one JSON object")):
            with self.assertRaisesRegex(ValueError, complaint):
                nigh.read_results(self.file(text))
        with self.assertRaises(FileNotFoundError):
            nigh.read_results("/no/such/file")


class Module(unittest.TestCase):
    def test_names(self):
        for name in nigh.__all__:
            self.assertTrue(getattr(nigh, name).__doc__, name)
        self.assertRegex(nigh.__version__, r"^\d+\.\d+\.\d+")
        with self.assertRaises(AttributeError):
            nigh.no_such_name

    def test_it_loads_nothing_that_may_be_missing(self):
        loaded = subprocess.run([sys.executable, "-c", "import nigh, sys; nigh.topology(); print(*sys.modules)"], text=True,
                                capture_output=True, check=True, env=dict(os.environ, PYTHONPATH=here.MODULE)).stdout.split()
        for name in ("cffi", "numpy", "pandas", "threadpoolctl"):
            self.assertNotIn(name, loaded)

    def test_a_missing_package_is_named(self):
        for name, call in (("cffi", "nigh.limit().__enter__()"), ("numpy", "nigh.array(3)")):
            code = f"import sys; sys.modules[{name!r}] = None\nimport nigh\n{call}"
            done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False,
                                  env=dict(os.environ, PYTHONPATH=here.MODULE))
            self.assertIn(f"ImportError: this part of nigh needs {name}: pip install {name}", done.stderr)


here.main()
