# SPDX-License-Identifier: Apache-2.0
"""joblib: two fits at a time, joblib_fits.py threading|loky|pool [SIZE]. Each of them uses OpenMP, in a thread of the same
process, in a process started anew, or in a child by fork()."""
import multiprocessing
import sys

import joblib
from sklearn.ensemble import HistGradientBoostingClassifier

from answer import classes, larger, tell


def fit(seed):
    points, labels = classes(larger(4000), 12, seed)
    model = HistGradientBoostingClassifier(max_iter=8, random_state=seed, early_stopping=False)
    return model.fit(points, labels).predict_proba(points)


if __name__ == "__main__":
    if sys.argv[1] == "pool":
        with multiprocessing.Pool(2) as pool:
            tell(*pool.map(fit, range(4)))
    else:
        with joblib.parallel_config(backend=sys.argv[1]):
            tell(*joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(seed) for seed in range(4)))
