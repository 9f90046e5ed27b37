# SPDX-License-Identifier: Apache-2.0
"""numpy on the OpenBLAS that uses OpenMP: every bit of a product, of eigenvalues, of a solution."""
import hashlib

import numpy

numbers = numpy.random.default_rng(1)
for size in 60, 200, 400:
    a = numbers.standard_normal((size, size))
    product = a @ a.T
    eigenvalues = numpy.linalg.eigvalsh(product)
    solution = numpy.linalg.solve(product + numpy.eye(size), a)
    print(size, *(hashlib.sha1(x.tobytes()).hexdigest() for x in (product, eigenvalues, solution)))

with open("/proc/self/maps", encoding="utf-8") as maps:
    assert "openblas-openmp" in maps.read(), "not the OpenBLAS that uses OpenMP"
