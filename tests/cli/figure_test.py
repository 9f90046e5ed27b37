#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figure of nigh tune, by the scripts that draw those of the benchmarks: figure_test.py BIN_DIR"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv.pop(1))
NIGH = os.path.join(BIN, "nigh")
SCRIPT = os.path.join(BIN, "../libexec/nigh/plots/tune.py")
HAS_MATPLOTLIB = any(subprocess.run([python, "-c", "import matplotlib"], check=False, capture_output=True).returncode == 0
                     for python in ("python3", "/usr/bin/python3") if shutil.which(python))


@unittest.skipUnless(os.path.exists(SCRIPT), "needs the scripts that draw, which come with the benchmarks")
class Figure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def tune(self, *words, status=0, **more):
        done = subprocess.run([NIGH, "tune", *words], cwd=self.folder, check=False, capture_output=True, text=True,
                              timeout=200, env={**os.environ, "NIGH_COORDINATOR": "off", **more})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def drawn(self, *words):
        self.tune("--plot", "figure.svg", *words)
        with open(os.path.join(self.folder, "figure.svg"), encoding="utf-8") as file:
            return file.read()

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_time_by_threads(self):
        text = self.drawn("--threads", "1", "--schedule", "static", "--", "true")
        for part in ("<svg", ">compact, first touch<", ">as it is<", ">threads<", ">true<", ">time in s<"):
            self.assertIn(part, text)

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_the_python_that_is_asked_for(self):
        python = os.path.join(self.folder, "own-python")
        with open(python, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncase $* in *tune.py*) touch drawn ;; esac\npython3 "$@" || exec /usr/bin/python3 "$@"\n')
        os.chmod(python, 0o755)
        self.tune("--plot", "figure.svg", "--threads", "1", "--schedule", "static", "--", "true", NIGH_PYTHON=python)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "drawn")))

    def test_none_of_three_pythons(self):
        done = self.tune("--plot", "figure.svg", "--", "touch", "ran", status=2, PYTHONHOME="/nonexistent",
                         NIGH_PYTHON="/no/python")
        self.assertEqual(done.stderr, "nigh: --plot: needs matplotlib, which none of /no/python, python3 and /usr/bin/python3 has "
                                      "(Debian: apt install python3-matplotlib; elsewhere: pip install matplotlib)\n")
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_a_metric_by_ranks(self):
        launcher = os.path.join(self.folder, "mpirun")
        with open(launcher, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho speed 5\n")
        os.chmod(launcher, 0o755)
        text = self.drawn("--ranks", "1", "--threads", "1", "--metric", "speed ([0-9]+)", "--maximize", "--",
                          "./mpirun", "-n", "{ranks}", "{run}", "./app")
        for part in (">compact<", ">ranks on a host<", "value of speed ([0-9]+)"):
            self.assertIn(part, text)

    def test_without_matplotlib_nothing_runs(self):
        done = self.tune("--plot", "figure.svg", "--", "touch", "ran", status=2, PYTHONHOME="/nonexistent")
        self.assertEqual(done.stderr, "nigh: --plot: needs matplotlib, which neither python3 nor /usr/bin/python3 has "
                                      "(Debian: apt install python3-matplotlib; elsewhere: pip install matplotlib)\n")
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
