#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of programs and of files: what the page holds is what was measured, and nothing is loaded from elsewhere.

    report_test.py NIGH FOLDER_OF_OPENMP_PROGRAMS [unittest arguments]

Without plotly, only what needs none is tested."""
import html.parser
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

NIGH, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "docs/results")
REGIONS = os.path.join(PROGRAMS, "regions-gcc")
SOURCE = os.path.join(ROOT, "tests/openmp/programs/regions.cpp")
QUIET = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "NIGH_", "LD_PRELOAD"))}


def python_with_plotly():
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import plotly"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def line_of(function):
    with open(SOURCE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = lines.index(f"void {function}() {{")
    return next(n for n in range(start, len(lines)) if "omp parallel" in lines[n]) + 1


class Page(html.parser.HTMLParser):
    """What a browser would read and load."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.scripts, self.ids, self.words, self.images = [], {}, [], [], []
        self.open, self.handlers = None, []
        self.feed(text)
        self.data = json.loads(self.scripts["nigh-data"])

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.loaded += [found[key] for key in ("src", "data", "srcset") if found.get(key)]
        if tag == "link":
            self.loaded.append(found.get("href"))
        self.handlers += [key for key in found if key.startswith("on")]
        if found.get("id"):
            self.ids.append(found["id"])
        if found.get("role") == "img":
            self.images.append(found.get("aria-label", ""))
        self.open = (tag, found.get("id"))

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open and self.open[0] == "script":
            self.scripts[self.open[1]] = self.scripts.get(self.open[1], "") + data
        elif not (self.open and self.open[0] == "style"):
            self.words.append(data)

    def text(self):
        return " ".join(self.words)


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = dict(QUIET, NIGH_PROFILES=os.path.join(self.folder, "profiles"),
                                NIGH_SOCKET=os.path.join(self.folder, "nighd.sock"))

    def nigh(self, *words, status=0, given=None, **more):
        done = subprocess.run([NIGH, "report", *words], env=dict(self.environment, **more), capture_output=True, text=True,
                              timeout=280, check=False, cwd=self.folder, input=given)
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout, done.stderr

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def page(self, name="nigh-report.html"):
        with open(self.path(name), encoding="utf-8") as file:
            text = file.read()
        page = Page(text)
        self.assertEqual(page.loaded, [], "the page loads nothing")
        self.assertEqual(page.handlers, [])
        self.assertIn("default-src 'none'", text)
        style = text[text.index("<style>"):text.index("</style>")]
        self.assertNotIn("url(", style)
        self.assertNotIn("@import", style)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertTrue(all(page.images), "each figure says what it shows")
        return page


class Mistakes(Reports):
    def complaint(self, *words, status=2, **more):
        _, said = self.nigh(*words, status=status, **more)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(os.listdir(self.folder), self.before)
        return said

    def setUp(self):
        super().setUp()
        self.write("a.txt", "hello\n")
        self.write("list.json", "[1, 2]\n")
        self.write("half.json", '{"bench":"x","variant":"y","absent":"none"}\n{"bench":\n')
        self.write("empty.json", "")
        self.before = os.listdir(self.folder)

    def test_no_module_of_the_current_folder_is_run(self):
        self.write("plotly.py", "open('was_run', 'w').close()\n")
        subprocess.run([NIGH, "report", os.path.join(RESULTS, "cluster-losses.json")], env=self.environment,
                       capture_output=True, timeout=280, check=False, cwd=self.folder)
        self.assertFalse(os.path.exists(self.path("was_run")))

    def test_one_line_each(self):
        self.assertIn("of what?", self.complaint())
        self.assertIn("nosuch.json cannot be read", self.complaint("nosuch.json"))
        self.assertIn("a.txt holds no results", self.complaint("a.txt"))
        self.assertIn("list.json holds no results", self.complaint("list.json"))
        self.assertIn("half.json has no result in line 2", self.complaint("half.json"))
        self.assertIn("empty.json is empty", self.complaint("empty.json"))
        self.assertIn("is a program: nigh report -- ", self.complaint("/bin/true"))
        self.assertIn("--threads: is for programs", self.complaint("--threads", "1", "half.json"))

    def test_own_failures_are_not_the_programs(self):
        self.assertIn("of what?", self.complaint("--", status=125))
        self.assertIn("--budget", self.complaint("--budget", "soon", "--", "true", status=125))
        self.assertIn("--threads", self.complaint("--threads", "0", "--", "true", status=125))

    def test_without_plotly(self):
        with tempfile.TemporaryDirectory() as hiding:
            with open(os.path.join(hiding, "sitecustomize.py"), "w", encoding="utf-8") as file:
                file.write("import importlib.util\nreal = importlib.util.find_spec\n"
                           "importlib.util.find_spec = lambda name, *more: None if name == 'plotly' else real(name, *more)\n")
            said = self.complaint("--", "true", status=125, PYTHONPATH=hiding)
        self.assertIn("needs plotly, which neither python3 nor /usr/bin/python3 has (Debian: apt install python3-plotly; "
                      "elsewhere: pip install plotly)", said)

    def test_a_damaged_plotly_is_told_before_anything_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "plotly"))
            with open(os.path.join(folder, "plotly", "__init__.py"), "w", encoding="utf-8") as file:
                file.write("import no_such_part\n")
            said = self.complaint("--", "touch", os.path.join(folder, "ran"), status=125, PYTHONPATH=folder)
            self.assertFalse(os.path.exists(os.path.join(folder, "ran")))
        self.assertEqual(said, "nigh: report: needs plotly, and that of python3 is damaged (ModuleNotFoundError: "
                               "No module named 'no_such_part')\n")


@unittest.skipUnless(python_with_plotly(), "needs plotly")
class Programs(Reports):
    @unittest.skipUnless(os.path.exists(REGIONS) and len(os.sched_getaffinity(0)) > 1, "needs OpenMP and two cpus")
    def test_regions_are_those_that_were_measured(self):
        out, _ = self.nigh("--threads", "1,2", "--repetitions", "2", "--", REGIONS, "5")
        self.assertEqual(out, "regions begin\nregions end\n")
        page = self.page()
        self.assertEqual(page.data["run"]["status"], 0)
        seen = {}
        for line in page.data["regions"]["lines"]:
            if "region" in line["params"]:
                seen.setdefault(line["params"]["function"].split("::")[-1], []).append(line)
        self.assertEqual(set(seen), {"scaling", "flat", "clause", "nested"})
        for function, lines in seen.items():
            where = lines[0]["variant"]
            self.assertIn(int(where.split(":")[1]) - line_of(function), (0, 1), where)
            self.assertIn(where, page.text())
            for line in lines:
                self.assertEqual(line["counters"]["runs"], 5 * len(line["samples"]))
        self.assertEqual([line["params"]["threads"] for line in seen["flat"]], [1, 2])
        bars = json.loads(page.scripts["figure-1-data"])["data"][0]
        shown = dict(zip(bars["y"], bars["x"]))
        for function, lines in seen.items():
            last = lines[-1]
            self.assertAlmostEqual(shown[f"{last['variant']} {function}"], 5e-9 * last["median"], places=9)
        curves = json.loads(page.scripts["figure-2-data"])["data"]
        flat = next(curve for curve in curves if curve["name"].endswith(" flat"))
        self.assertEqual(flat["x"], [1, 2])
        self.assertEqual(flat["y"], [line["counters"]["speedup"] for line in seen["flat"]])
        self.assertTrue(any(step["command"].startswith("nigh ") for step in page.data["steps"]))
        self.assertIn("<svg", page.data["machine"]["svg"])

    @unittest.skipUnless(os.path.exists(REGIONS), "needs OpenMP")
    def test_once(self):
        out, said = self.nigh("--no-scaling", "-o", "once.html", "--", REGIONS, "3", "fail", status=7)
        self.assertEqual(out, "regions begin\nregions end\n")
        self.assertEqual(said.count("nothing is good enough"), 1)  # it ran once
        page = self.page("once.html")
        self.assertEqual(page.data["run"]["status"], 7)
        regions = [line for line in page.data["regions"]["lines"] if "region" in line["params"]]
        self.assertEqual(len(regions), 4)
        self.assertEqual({line["counters"]["runs"] for line in regions}, {3})

    @unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "tasks-gcc")), "needs OpenMP")
    def test_tasks(self):
        self.nigh("--threads", "1", "--repetitions", "1", "--", os.path.join(PROGRAMS, "tasks-gcc"))
        tasks = self.page().data["tasks"]
        self.assertNotIn("absent", tasks)
        self.assertGreater(tasks["created"], 0)
        shown, counted = sum(map(sum, tasks["steals_over_time"].values())), sum(tasks["steals"].values())
        if tasks["events_lost"]:  # a worker keeps its last 65,535 events
            self.assertLess(shown, counted)
        else:
            self.assertEqual(shown, counted)

    def test_without_regions(self):
        out, _ = self.nigh("--", "sh", "-c", "cat; sleep 0.3", given="to the program\n")
        self.assertEqual(out, "to the program\n")
        data = self.page().data
        self.assertIn("no OpenMP runtime was seen in it", data["regions"]["absent"])
        self.assertGreater(data["where"]["samples"], 0)
        self.assertEqual(sorted(row["cpu"] for row in data["where"]["cpus"]), sorted(os.sched_getaffinity(0)))

    def test_short_programs_without_openmp_run_once(self):
        self.nigh("--", "sh", "-c", "echo x >> log")
        with open(self.path("log"), encoding="utf-8") as log:
            self.assertEqual(log.read(), "x\n")
        self.assertIn("no OpenMP runtime was seen in it, and its file links to none", self.page().data["regions"]["absent"])
        _, said = self.nigh("--", "mkdir", "made")
        self.assertEqual(said, "nigh: report: in nigh-report.html\n")

    @unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "clauses-gcc")), "needs OpenMP")
    def test_short_programs_with_openmp_run_again(self):
        self.nigh("--threads", "1", "--repetitions", "1", "--", os.path.join(PROGRAMS, "clauses-gcc"), "alone", OMP_NUM_THREADS="1")
        self.assertNotIn("no OpenMP runtime was seen", self.page().data["regions"]["absent"])

    def test_ends_as_the_program(self):
        self.nigh("--", "sh", "-c", "exit 3", status=3)
        self.nigh("--", "sh", "-c", "kill -TERM $$", status=-15)
        self.assertEqual(self.page().data["run"]["signal"], 15)
        os.remove(self.path("nigh-report.html"))
        self.nigh("--", "./nosuch", status=127)
        self.write("no-program", "")
        self.nigh("--", "./no-program", status=126)
        self.assertFalse(os.path.exists(self.path("nigh-report.html")))

    def test_nobody_breaks_out(self):
        """Words of the program and the title are shown, and are no part of the page."""
        evil = "</script><script>window.evil=1</script><img src=x onerror=evil()>\u2028<!--"
        self.nigh("--", "sh", "-c", "exit 0", evil)
        page = self.page()
        self.assertIn(evil.replace("\u2028", "\ufffd"), page.text())
        self.assertIn("</script><script>", page.data["command"])
        self.nigh("--title", evil, "--", "true")
        page = self.page()
        self.assertEqual(page.data["title"], evil)
        self.assertEqual(sum("window.evil=1" in text for text in page.scripts.values()), 1)  # in the data

    def test_other_files_stay(self):
        self.write("notes.html", "<p>mine</p>")
        _, said = self.nigh("-o", "notes.html", "--", "true", status=125)
        self.assertIn("no report of nigh: --force replaces it", said)
        with open(self.path("notes.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "<p>mine</p>")
        self.nigh("-o", "notes.html", "--force", "--", "true")
        self.nigh("-o", "notes.html", "--title", "again", "--", "true")
        self.assertEqual(self.page("notes.html").data["title"], "again")

    def test_the_page_is_written_whatever_signal_comes(self):
        made = self.path("making")
        self.write("python", "#!/bin/sh\ncase $1 in -B) touch making; sleep 1 ;; esac\n"
                   f'exec {python_with_plotly()} "$@"\n')
        os.chmod(self.path("python"), 0o755)
        for number in (signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([NIGH, "report", "--force", "--no-scaling", "--", REGIONS], cwd=self.folder,
                                  env=dict(self.environment, NIGH_PYTHON=self.path("python")), stderr=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL) as child:
                while not os.path.exists(made) and child.poll() is None:
                    time.sleep(0.01)
                child.send_signal(number)
                self.assertEqual(child.wait(100), 128 + number)
            self.assertIn("regions-gcc", self.page().text())
            os.remove(made)
            os.remove(self.path("nigh-report.html"))

    def test_budget(self):
        if not os.path.exists(REGIONS):
            self.skipTest("needs OpenMP")
        self.nigh("--budget", "1s", "--threads", "1,2", "--", REGIONS, "100")
        self.assertRegex(self.page().data["regions"]["absent"], r"a run takes \d+ s, and the budget is 1 s")


@unittest.skipUnless(python_with_plotly(), "needs plotly")
class Files(Reports):
    def test_all_results_of_the_docs(self):
        files = sorted(os.path.join(RESULTS, name) for name in os.listdir(RESULTS) if name.endswith(".json"))
        self.assertGreater(len(files), 40)
        self.nigh(*files)
        page = self.page()
        self.assertEqual(len(page.data["files"]), len(files))
        self.assertGreater(sum(str(name).startswith("figure-") for name in page.scripts), len(files))
        for held, name in zip(page.data["files"], files):
            with open(name, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            self.assertEqual(held["lines"], lines)

    def test_a_curve_is_the_medians(self):
        def line(threads, median):
            return json.dumps({"bench": "x", "variant": "v", "params": {"threads": threads}, "metric": "time", "unit": "s",
                               "median": median, "min": median - 1, "max": median + 2, "samples": [median]})
        self.write("r.json", "\n".join(line(n, m) for n, m in ((4, 3.0), (1, 9.0), (2, 5.0))))
        self.nigh("r.json")
        figure = json.loads(self.page().scripts["figure-1-data"])["data"][0]
        self.assertEqual((figure["x"], figure["y"]), ([1, 2, 4], [9.0, 5.0, 3.0]))
        self.assertEqual(figure["error_y"]["array"], [2.0, 2.0, 2.0])

    def test_a_busy_machine_is_told(self):
        self.write("r.json", json.dumps({"bench": "x", "variant": "v", "params": {}, "metric": "time", "unit": "s", "median": 1,
                                         "min": 1, "max": 1, "samples": [1], "run": {"others_cpus": 1.89}}))
        self.nigh("r.json")
        self.assertIn("Others kept 1.9 cpus busy meanwhile", self.page().text())

    def test_tune(self):
        program = [sys.executable, "-S", "-c", "pass"]
        subprocess.run([NIGH, "tune", "--budget", "5s", "--repetitions", "1", "--json", "t.json", "--", *program], check=True,
                       env=self.environment, cwd=self.folder, capture_output=True, timeout=120)
        self.nigh("nigh-profile.json", "t.json")
        page = self.page()
        self.assertIn("nigh run --profile nigh-profile.json", page.text())
        self.assertEqual(page.text().count("(as it is)"), 1)  # one table

    def test_a_chance_from_single_runs_is_not_shown(self):
        line = dict(bench="tune", params={}, metric="time", unit="s", run={}, min=1, max=3)
        for samples, chance_is_shown in (([1, 2, 3], True), ([2], False)):
            runs = dict(variant="--threads 1", median=2, samples=samples, chance=0.93), dict(variant="as it is", median=3, samples=[3])
            self.write("t.json", "\n".join(json.dumps({**line, **run}) for run in runs))
            self.nigh("t.json")
            text = self.page().text()
            self.assertEqual("93%" in text, chance_is_shown)
            self.assertEqual("The best ran once, so that it is the best is not sure" in text, not chance_is_shown)

    def test_odd_values(self):
        good = {"bench": "x", "variant": "v", "params": {}, "metric": "time", "unit": "s", "median": 1, "min": 1, "max": 1,
                "samples": [1]}
        for key, value, said in (("median", "1", "'median' is no number"), ("params", [1], "'params' is no object"),
                                 ("samples", {}, "'samples' is no list"),
                                 ("median", 2, "the median 2 is not between the least, 1, and the most, 1"),
                                 ("samples", [0.5, 0.9], "the median 1 is not between the least, 0.5, and the most, 0.9"), ("variant", 1, "'variant' is no text"),
                                 ("run", 3, "'run' is no object")):
            self.write("odd.json", json.dumps({**good, key: value}))
            _, complained = self.nigh("odd.json", status=2)
            self.assertRegex(complained, r"odd\.json, result 1: " + re.escape(said))
            self.assertFalse(os.path.exists(self.path("nigh-report.html")))
        self.write("odd.json", '{"nigh_profile": 2}')
        self.assertIn("another format", self.nigh("odd.json", status=2)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
