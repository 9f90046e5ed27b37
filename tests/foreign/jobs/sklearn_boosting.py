# SPDX-License-Identifier: Apache-2.0
"""scikit-learn: gradient boosting, whose loops are Cython's on OpenMP."""
from sklearn.ensemble import HistGradientBoostingClassifier

from answer import classes, larger, tell

points, labels = classes(larger(8000), 20)
tell(HistGradientBoostingClassifier(max_iter=15, random_state=1, early_stopping=False)
     .fit(points, labels).predict_proba(points))
