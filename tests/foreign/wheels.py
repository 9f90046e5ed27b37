# SPDX-License-Identifier: Apache-2.0
"""Programs on packages of PyPI, which bring runtimes of their own along: those of the virtual environment that
scripts/setup.sh makes."""
import glob
import os

from programs import JOBS, Program


def wheels(folder):
    """{name: program} with the Python of that environment."""
    def program(job, *arguments, module):
        packages = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
        needs = [os.path.join(packages[0] if packages else folder, name) for name in ("numpy", module)]
        return Program([os.path.join(folder, "bin", "python"), str(JOBS / f"{job}.py"), *arguments], needs=needs,
                       environment={"PYTHONDONTWRITEBYTECODE": "1"})

    return {
        "LightGBM": program("lightgbm_trees", module="lightgbm"),
        "XGBoost": program("xgboost_trees", module="xgboost"),
        "scikit-learn, boosting": program("sklearn_boosting", module="sklearn"),
        "scikit-learn, k-means": program("sklearn_clusters", module="sklearn"),
        "faiss": program("faiss_search", module="faiss"),
        "numba, OpenMP": program("numba_loop", "omp", module="numba"),
        "numba, workqueue": program("numba_loop", "workqueue", module="numba"),
        "numpy": program("numpy_products", module="numpy"),
        "joblib, threads": program("joblib_fits", "threading", module="joblib"),
        "joblib, processes": program("joblib_fits", "loky", module="joblib"),
        "joblib, children": program("joblib_fits", "pool", module="joblib"),
    }
