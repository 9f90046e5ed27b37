# SPDX-License-Identifier: Apache-2.0
"""numpy: products of whole numbers, exact in any order, by any number of threads."""
import numpy

from answer import tell

numbers = numpy.random.default_rng(1)
left, right = (numbers.integers(-1000, 1000, (700, 700)).astype(float) for _ in range(2))
for _ in range(10):
    right = numpy.mod(left @ right, 1000)
tell(right)
