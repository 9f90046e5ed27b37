# SPDX-License-Identifier: Apache-2.0
"""LightGBM: trees by gradient boosting."""
import lightgbm

from answer import classes, larger, tell

points, labels = classes(larger(8000), 20)
how = {"objective": "binary", "num_leaves": 31, "verbose": -1, "deterministic": True, "force_row_wise": True, "seed": 1}
tell(lightgbm.train(how, lightgbm.Dataset(points, labels), 20).predict(points))
