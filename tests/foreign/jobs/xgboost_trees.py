# SPDX-License-Identifier: Apache-2.0
"""XGBoost: trees by histograms. It sizes arrays by the number of threads that it is promised."""
import xgboost

from answer import classes, larger, tell

points, labels = classes(larger(8000), 20)
how = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": 6, "seed": 1}
trees = xgboost.train(how, xgboost.DMatrix(points, labels), 20)
tell(trees.predict(xgboost.DMatrix(points)))
