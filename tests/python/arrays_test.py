#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh.array(), where() and move(): arrays_test.py BUILD [unittest arguments]."""
import gc
import os
import subprocess
import sys
import unittest

import here
import nigh

DOMAINS = len(nigh.topology().domains)


def mapped_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


class Arrays(unittest.TestCase):
    def test_it_is_an_array_of_zeros(self):
        for placement in ("first-touch", "interleave", "bind:0", "blocked", "blocked:512", "cyclic:512"):
            a = nigh.array((300, 20), placement=placement)
            self.assertEqual((a.shape, a.dtype, a.sum(), a.flags.c_contiguous), ((300, 20), numpy.float64, 0, True))
            a[:] = numpy.arange(20)
            self.assertTrue((a.sum(axis=0) == 300 * numpy.arange(20)).all())

    def test_shapes(self):
        for shape, expected in ((5, (5,)), ((), ()), ([2, 3], (2, 3)), (numpy.int64(4), (4,)), (numpy.array([2, 1]), (2, 1)),
                                ((0, 3), (0, 3))):
            self.assertEqual(nigh.array(shape).shape, expected)
        self.assertTrue(nigh.array((2, 3), order="F").flags.f_contiguous)
        self.assertEqual(nigh.array(3, "int8").dtype, numpy.int8)
        self.assertEqual(nigh.array(3, [("x", "f4"), ("n", "i8")])["n"].sum(), 0)
        self.assertEqual(nigh.array(1 << 20, "u1", huge_pages=True).nbytes, 1 << 20)

    def test_dtypes_are_as_numpy_has_them(self):
        for dtype in ("S", "U", "V", "S0", "V0", str, bytes, "S5", "U3", ("f8", (3,)), ("i2", (2, 2)), [("a", "f8", (2,))], [],
                      "M8[ns]", ">f8", "c16", "?", None):
            for order in "CF":
                a, expected = nigh.array((3, 2), dtype, order=order), numpy.zeros((3, 2), dtype, order)
                self.assertEqual((a.shape, a.dtype, a.strides, a.flags.writeable),
                                 (expected.shape, expected.dtype, expected.strides, True), (dtype, order))
                if expected.dtype.itemsize:
                    self.assertTrue((a == expected).all(), dtype)

    def test_views_keep_the_memory_and_the_last_one_frees_it(self):
        before = mapped_bytes()
        a = nigh.array(1 << 24)
        self.assertGreaterEqual(mapped_bytes() - before, 1 << 27)
        a[77] = 3
        part = a[70:80]
        del a
        gc.collect()
        self.assertEqual(part[7], 3)
        del part
        gc.collect()
        self.assertLess(mapped_bytes() - before, 1 << 26)

    def test_wrong_input(self):
        for placement in ("bind", "bind:", "bind:x", "cyclic", "interleave:3", "first_touch", "bind:-1", ""):
            with self.assertRaisesRegex(ValueError, "is none of first-touch, interleave, bind:DOMAIN"):
                nigh.array(8, placement=placement)
        for what, error, complaint in (
                (lambda: nigh.array(8, placement=f"bind:{DOMAINS}"), ValueError,
                 f"names a domain the machine does not have; it has {DOMAINS}"),
                (lambda: nigh.array(8, placement="cyclic:0"), ValueError, "a piece of zero elements"),
                (lambda: nigh.array(8, placement=3), TypeError, "placement is text or a nigh.Placement"),
                (lambda: nigh.Placement.bind(-1), ValueError, "bind: -1 is no number"),
                (lambda: nigh.array(8, placement=f"bind:{2**63 - 1}"), ValueError, f"bind: {2**63 - 1} is no number"),
                (lambda: nigh.array(8, placement=f"bind:{2**31}"), ValueError, f"bind: {2**31} is no number"),
                (lambda: nigh.Placement("near"), ValueError, "'near' is none of"),
                (lambda: nigh.array((2, -1)), ValueError, "negative side"),
                (lambda: nigh.array(1.5), TypeError, "shape is a whole number, or a sequence of these, not float"),
                (lambda: nigh.array("ab"), (TypeError, ValueError), ""),
                (lambda: nigh.array(8, object), TypeError, "has Python objects in it"),
                (lambda: nigh.array(8, order="A"), ValueError, "order is 'C' or 'F'"),
                (lambda: nigh.array(1 << 50), MemoryError, ""),
                (lambda: nigh.array((1 << 40, 1 << 40)), MemoryError, "larger than memory can be"),
                (lambda: nigh.array((1 << 31, 1 << 31)), MemoryError, "larger than memory can be"),
                (lambda: nigh.array(1 << 62), MemoryError, "larger than memory can be"),
                (lambda: nigh.move(nigh.array(8), 1 << 40), nigh.NighError, "there is no domain"),
                (lambda: nigh.where([1, 2]), TypeError, "no numpy array but a list"),
                (lambda: nigh.move(nigh.array(8), DOMAINS), nigh.NighError, f"there is no domain {DOMAINS}"),
                (lambda: nigh.move(nigh.array(8), -1), nigh.NighError, "there is no domain -1")):
            with self.assertRaisesRegex(error, complaint):
                what()

    def test_text_of_placements(self):
        rule = nigh.Placement
        for placement in (rule.first_touch(), rule.interleave(), rule.bind(2), rule.blocked(), rule.blocked(64), rule.cyclic(8)):
            self.assertEqual(nigh.Placement.parse(str(placement)), placement)
        self.assertEqual(nigh.Placement.parse("blocked"), nigh.Placement.blocked())


class Where(unittest.TestCase):
    page = os.sysconf("SC_PAGE_SIZE")

    def test_pages_come_when_they_are_written(self):
        a = nigh.array(100 * self.page, "u1")
        said = nigh.where(a)
        self.assertEqual((said.pages, said.untouched, said.page_bytes), (100, 100, self.page))
        a[:50 * self.page] = 1
        said = nigh.where(a)
        self.assertEqual((sum(said.of_domain), said.untouched, said.elsewhere, said.unknown), (50, 50, 0, 0))
        self.assertEqual(len(said.of_domain), DOMAINS)

    def test_parts_of_an_array(self):
        a = nigh.array((10, 2 * self.page), "u1")
        a[3:5] = 1
        self.assertEqual(nigh.where(a[3:5]).untouched, 0)
        self.assertEqual(nigh.where(a[4:2:-1]), nigh.where(a[3:5]))
        self.assertEqual((nigh.where(a[::9, 0]).pages, nigh.where(a[0, 10:20]).pages), (19, 1))
        self.assertEqual(nigh.where(a[0, self.page - 1:self.page + 1]).pages, 2)
        self.assertEqual(nigh.where(a[:0]).pages, 0)

    def test_memory_of_others(self):
        said = nigh.where(numpy.ones(1 << 20))
        self.assertEqual(sum(said.of_domain), said.pages)
        self.assertGreaterEqual(said.pages, (8 << 20) // self.page)

    def test_a_rule_is_kept(self):
        for placement in ("interleave", "bind:0", "blocked", f"cyclic:{self.page}"):
            a = nigh.array(64 * self.page, "u1", placement=placement)
            a[:] = 1
            said = nigh.where(a)
            self.assertEqual((said.misplaced, sum(said.of_domain)), (0, 64))
            wanted = 64 if placement == "bind:0" else 64 // DOMAINS
            self.assertEqual(said.of_domain[0], wanted)
        nigh.move(a, DOMAINS - 1)
        self.assertEqual(nigh.where(a).of_domain[-1], 64)
        self.assertEqual(nigh.where(a).misplaced, 64 - 64 // DOMAINS)

    def test_in_a_forked_child(self):
        code = ("import nigh, os\na = nigh.array(10000); a[:] = 1\n"
                "if os.fork() == 0:\n    a[5] = 7; print(a.sum(), nigh.where(a).untouched, flush=True); os._exit(0)\n"
                "os.wait(); print(a.sum())")
        out = subprocess.run([sys.executable, "-B", "-c", code], env=dict(os.environ, PYTHONPATH=here.MODULE), text=True,
                             capture_output=True, check=True, timeout=here.SOON).stdout
        self.assertEqual(out, "10006.0 0\n10000.0\n")


try:
    import numpy
except ImportError:
    pass  # main() says so
here.main("numpy", "cffi")
