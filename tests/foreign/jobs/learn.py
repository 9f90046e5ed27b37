# SPDX-License-Identifier: Apache-2.0
"""Several users of OpenMP in one process: learn.py [LIBRARY]. scikit-learn's regions are begun by
the thread that also calls OpenBLAS, and LIBRARY may be one that clang built, with its own runtime."""
import ctypes
import sys
import threading

import numpy
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

numbers = numpy.random.default_rng(1)
points = numbers.standard_normal((5000, 10))
values = points[:, 0] * points[:, 1]


def boost(told):
    model = HistGradientBoostingRegressor(max_iter=20, random_state=1).fit(points, values)
    told.append(repr(model.score(points, values)))


told = []
beside = threading.Thread(target=boost, args=(told,))
beside.start()
if len(sys.argv) > 1:
    library = ctypes.CDLL(sys.argv[1])
    library.sum_to.restype = ctypes.c_long
    print([library.sum_to(n) for n in range(1, 100)])
clusters = KMeans(8, n_init=2, random_state=1).fit(points)
print(repr(clusters.inertia_), numpy.bincount(clusters.labels_))
print(repr(float(numpy.linalg.norm(points.T @ points))))
beside.join()
print(*told)
