# SPDX-License-Identifier: Apache-2.0
"""numba: a parallel loop, numba_loop.py LAYER. OpenMP is one of its layers of threads."""
import sys

import numba
import numpy

from answer import tell

numba.config.THREADING_LAYER = sys.argv[1]


@numba.njit(parallel=True)
def waves(x, sums):
    for k in range(20):
        for i in numba.prange(x.size):
            sums[i] += numpy.sin(x[i] * k) * numpy.cos(sums[i])


x = numpy.arange(200000.0) / 1e4
sums = numpy.zeros_like(x)
waves(x, sums)
assert numba.threading_layer() == sys.argv[1]
tell(sums)
