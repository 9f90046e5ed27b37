#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public C++ header, compiled below C++20, says first that nigh needs C++20, and then ends.

    tests/cxx20_test.py COMPILER...

nigh.h and locality_mark.h are for C and older C++, too: they compile without a word.
"""

import pathlib
import shutil
import subprocess
import sys
import unittest

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
SAYS = "nigh needs C++20: compile with -std=c++20 or later"
COMPILERS = []


def compile_header(compiler, header, standard):
    """(exit code, lines that name an error) of a source that includes this header alone."""
    done = subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", "-fdiagnostics-color=never", f"-I{INCLUDE}",
                           "-x", "c++", "-"], input=f"#include <nigh/{header.name}>\n", capture_output=True, text=True,
                          check=False)
    return done.returncode, [line for line in done.stderr.split("\n") if "error:" in line]


class BelowCxx20(unittest.TestCase):
    def headers(self, suffix):
        found = sorted((INCLUDE / "nigh").glob("*" + suffix))
        self.assertTrue(found)
        return [(compiler, header) for compiler in COMPILERS for header in found]

    def test_headers_say_what_they_need_first(self):
        for compiler, header in self.headers(".hpp"):
            standard = "c++17" if "clang" in compiler else "c++11"
            with self.subTest(compiler=compiler, header=header.name, standard=standard):
                code, errors = compile_header(compiler, header, standard)
                self.assertNotEqual(code, 0)
                self.assertIn(SAYS, errors[0])
                self.assertIn("detail/cxx20.hpp", errors[0])
                self.assertLessEqual(len(errors), 2)

    def test_c_headers_are_for_older_modes_too(self):
        for compiler, header in self.headers(".h"):
            with self.subTest(compiler=compiler, header=header.name):
                self.assertEqual(compile_header(compiler, header, "c++11"), (0, []))

    def test_cxx20_is_enough(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                self.assertEqual(compile_header(compiler, INCLUDE / "nigh/version.hpp", "c++20"), (0, []))


if __name__ == "__main__":
    COMPILERS += [compiler for compiler in sys.argv[1:] if shutil.which(compiler)] or ["c++"]
    unittest.main(argv=sys.argv[:1])
