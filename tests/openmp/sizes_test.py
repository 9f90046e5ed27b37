#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many threads teams have, when fewer cpus are granted than they want threads: sizes_test.py, with
the arguments of shim_test.py."""
import os
import shutil
import sys
import tempfile
import unittest

from shim_test import A, B, SCRIPT, program, run

CPP = ["dynamic-gcc", "dynamic-clang"]
FORTRAN = ["dynamic-gfortran", "dynamic-gfortran-8"]  # integers of eight bytes have calls of their own


class Sizes(unittest.TestCase):
    """Teams that want four threads and are granted one cpu."""

    def check(self, names, words, expected, **environment):
        """Of each of these programs, `words` lead to these lines."""
        for name in names:
            with self.subTest(name=name, words=words, **environment):
                settings = {"OMP_NUM_THREADS": "4", **environment}
                out, err = run(name, *words.split(), leases=A, **settings)
                self.assertEqual((out.splitlines(), err), (expected.split(", "), ""))

    def named(self, name, source="dynamic-gcc"):
        """A program or library by another name, or in a folder."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return shutil.copy(program(source), path)

    def test_are_as_asked_for(self):
        self.check(CPP, "region clause=3 get", "4 of 4, 3 of 3, dynamic 0")
        self.check(FORTRAN, "region get", "4 of 4, dynamic 0")

    def test_do_not_change_with_leases(self):
        for name in CPP:
            out, _ = run(name, "many", "sum", leases=SCRIPT, OMP_NUM_THREADS="4")
            self.assertEqual(out, "from 4 to 4\nsum 499500\n")
            out, _ = run(name, "many", leases=SCRIPT, OMP_NUM_THREADS="4", NIGH_ADJUST="without-clause")
            self.assertEqual(out, "from 1 to 4\n")  # 4 where there is no lease

    def test_follow_the_cpus_where_openmp_lets_them(self):
        self.check(CPP, "region clause=3 get", "1 of 4, 1 of 3, dynamic 1", OMP_DYNAMIC="true")
        self.check(CPP, "dynamic=1 region clause=3 get", "1 of 4, 1 of 3, dynamic 1")
        self.check(FORTRAN, "region get", "1 of 4, dynamic 1", OMP_DYNAMIC="true")
        self.check(FORTRAN, "dynamic=1 region get", "1 of 4, dynamic 1")

    def test_do_not_where_the_program_forbids_it(self):
        for names in (CPP, FORTRAN):
            self.check(names, "dynamic=0 region get", "4 of 4, dynamic 0", OMP_DYNAMIC="true")
            self.check(names, "dynamic=1 region dynamic=0 region", "1 of 4, 4 of 4")
            self.check(names, "threads=3 region", "3 of 3")

    def test_of_what_was_tried_follow_the_cpus(self):
        par2 = [self.named("par2")]
        self.check(par2, "get region clause=3 get", "dynamic 1, 1 of 4, 3 of 3, dynamic 1")
        self.check(par2, "threads=4 get region", "dynamic 0, 4 of 4")
        self.check(par2, "threads=4 get region", "dynamic 1, 1 of 4", NIGH_ADJUST="all")
        self.check(par2, "dynamic=0 get region", "dynamic 0, 4 of 4")
        self.check(par2, "dynamic=0 dynamic=1 get region", "dynamic 1, 1 of 4")
        self.check(par2, "get region", "dynamic 0, 4 of 4", OMP_DYNAMIC="false")
        self.check(par2, "get region", "dynamic 0, 4 of 4", NIGH_ADJUST="none")
        # Of nested regions, and of another thread's.
        self.check(par2, "within=3 region undynamic region other=3 region", "1 of 4, 1 of 4, 1 of 4")
        self.check([self.named("par2-else")], "region", "4 of 4")

    def test_of_what_goes_wrong_never_do(self):
        lulesh = [self.named("lulesh2.0")]
        for adjust in ("", "without-clause", "all", "nests", "lulesh2.0=all"):
            self.check(lulesh, "region clause=3 get sum", "4 of 4, 3 of 3, dynamic 0, sum 499500", NIGH_ADJUST=adjust)

    def test_of_libraries_follow_their_row(self):
        for file, team in (("libMagickCore-6.Q16.so.6", 1), ("libMagickCoreless.so", 3), ("libtesseract.so.5", 1),
                           ("libxgboost.so", 3), ("libelse.so", 3),
                           ("sklearn/ensemble/_hist_gradient_boosting/splitting.so", 1)):
            for kind in ("gcc", "clang"):
                library = self.named(file, f"library-{kind}.so")
                _, err = run("opens", library, leases=A, OMP_NUM_THREADS="3")
                self.assertEqual(err, f"team {team}\n" * 2, (file, kind))

    def test_are_as_the_user_says(self):
        words = "region clause=3 get dynamic=0 region get threads=2 region"
        kept = "4 of 4, 3 of 3, dynamic 0, 4 of 4, dynamic 0, 2 of 2"
        # The program's own word binds, except where sizes do not count at all.
        open_ = "1 of 4, 3 of 3, dynamic 1, 4 of 4, dynamic 0, 2 of 2"
        either = "1 of 4, 1 of 3, dynamic 1, 4 of 4, dynamic 0, 2 of 2"
        nests = "1 of 4, 1 of 3, dynamic 1, 1 of 4, dynamic 1, 1 of 2"
        for adjust, expected in (("", kept), ("none", kept), ("without-clause", open_), ("all", either),
                                 ("nests", nests), ("none,all", either), ("all,none", kept)):
            self.check(CPP, words, expected, NIGH_ADJUST=adjust)
        for adjust, expected in (("none", "4 of 4, dynamic 0"), ("all", "4 of 4, dynamic 0"),
                                 ("nests", "1 of 4, dynamic 1")):
            self.check(FORTRAN, "dynamic=0 region get", expected, NIGH_ADJUST=adjust)
        for names in (CPP, FORTRAN):
            self.check(names, "region get", "4 of 4, dynamic 0", NIGH_ADJUST="all", OMP_DYNAMIC="false")
            self.check(names, "dynamic=1 region get", "1 of 4, dynamic 1", NIGH_ADJUST="all", OMP_DYNAMIC="false")

    def test_are_as_the_user_says_of_this_program_or_library(self):
        for adjust, expected in (("dynamic-gcc", "1 of 4, 3 of 3, dynamic 1"),
                                 ("dynamic-gcc=all", "1 of 4, 1 of 3, dynamic 1"),
                                 ("dynamic-gcc=none,all", "4 of 4, 3 of 3, dynamic 0"),
                                 ("libelse=all", "4 of 4, 3 of 3, dynamic 0"),
                                 ("/programs/", "1 of 4, 3 of 3, dynamic 1")):
            self.check(["dynamic-gcc"], "region clause=3 get", expected, NIGH_ADJUST=adjust)
        both = [self.named("libone.so.1", "library-gcc.so"), self.named("libtwo.so.2", "library-clang.so")]
        for adjust, one, two in (("libone", 1, 3), ("two", 3, 1), ("libone,two=all", 1, 1), ("all,libtwo=none", 1, 3),
                                 ("lib", 3, 3)):
            _, err = run("opens", *both, leases=A, OMP_NUM_THREADS="3", NIGH_ADJUST=adjust)
            self.assertEqual(err, f"team {one}\nteam {two}\n" * 2 + f"inside team {one}\n", adjust)

    def test_a_library_that_is_not_there_is_told_when_asked(self):
        for name in CPP:
            settings = {"leases": A, "OMP_NUM_THREADS": "4", "NIGH_ADJUST": f"libabsent=all,{name}"}
            out, err = run(name, "region", **settings)
            self.assertEqual((out, err), ("1 of 4\n", ""))
            out, err = run(name, "region", NIGH_VERBOSE="1", **settings)
            self.assertEqual(out, "1 of 4\n")
            self.assertEqual([line for line in err.splitlines() if "adjust" in line],
                             [f"nigh: {name}: --adjust libabsent: no such library was loaded"])

    def test_mistakes_are_told_and_passed_over(self):
        for wrong, item in (("libx=some", "libx=some"), ("all,", ""), (",", ""), ("all,,none", ""), ("=all", "=all"),
                            ("all=none", "all=none"), ("libx=nests", "libx=nests"), ("all, none", " none"),
                            ("libx=", "libx="), ("a=b=all", "a=b=all")):
            for name in CPP:
                out, err = run(name, "region", leases=A, OMP_NUM_THREADS="4", NIGH_ADJUST=wrong)
                self.assertEqual(out, "4 of 4\n")
                self.assertRegex(err, rf"^nigh: {name}: NIGH_ADJUST: '{item}' is none of [^\n]*\n$")

    def test_programs_without_a_runtime_are_as_they_were(self):
        self.assertEqual(run("weak"), ("dynamic 0\nregions 3\n", ""))


class ThreadPrivate(unittest.TestCase):
    """Values of threads live and end as without nigh, where the program itself asks for another size."""

    def check(self, words, **environment):
        for name in ("privates-gcc", "privates-clang")[:1 if "/" in words else 2]:  # libomp's nested threads vary
            with self.subTest(name=name, words=words):
                plain = run(name, *words.split(), shim=None, **environment)
                for adjust in ("", "all"):
                    for leases in ("-", f"{A},{B}") if not adjust else ("-",):
                        with self.subTest(adjust=adjust, leases=leases):
                            self.assertEqual(run(name, *words.split(), leases=leases, NIGH_ADJUST=adjust,
                                                 **environment), plain)

    def test_of_a_team_that_shrinks_and_grows(self):
        self.check("4 2 4")
        self.assertIn("destroyed 2\n", run("privates-gcc", *"4 2 =2".split(), leases=f"{A},{B}")[0])

    def test_of_nested_teams(self):
        self.check("2/3 =4 2/3 =8 3 2/2 =11", OMP_MAX_ACTIVE_LEVELS="2")

    def test_live_on_when_nigh_makes_a_team_smaller(self):
        """Each in the thread of its number; until the program itself asks for fewer threads."""
        out, _ = run("privates-gcc", *"4 4 =0 4 2 =2 4".split(), leases=f"-;{A},{B};-;-;-", NIGH_ADJUST="all")
        self.assertEqual(out.splitlines(), ["4: fresh 4, the same as before 0", "4: fresh 0, the same as before 2",
                                            "destroyed 0", "4: fresh 0, the same as before 4",
                                            "2: fresh 0, the same as before 2", "destroyed 2",
                                            "4: fresh 2, the same as before 2"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
