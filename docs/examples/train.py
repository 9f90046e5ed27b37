# SPDX-License-Identifier: Apache-2.0
# Trains gradient-boosted trees with all cpus, as scikit-learn does by default.
#   python train.py [TREES]
import sys
import time

import numpy
from sklearn.ensemble import HistGradientBoostingClassifier

data = numpy.random.default_rng(1)
x = data.normal(size=(10_000, 20))
y = x[:, 0] * x[:, 1] + x[:, 2] > 0
began = time.perf_counter()
trees = int(sys.argv[1]) if len(sys.argv) > 1 else 300
model = HistGradientBoostingClassifier(max_iter=trees, early_stopping=False).fit(x, y)
print(f"{trees} trees, {model.score(x, y):.4f} of the answers right, {time.perf_counter() - began:.1f} s")
