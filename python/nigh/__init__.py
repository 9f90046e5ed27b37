# SPDX-License-Identifier: Apache-2.0
"""nigh for Python: the machine as data, programs in good places, cpus shared with others, placed numpy arrays.

>>> import nigh
>>> nigh.topology().cpus
(0, 1)
>>> with nigh.limit() as lease:      # cpus of its own from nighd, and thread pools of that size
...     train(threads=lease.threads)
>>> nigh.run(["./solver"], options=["--threads", "8"]).returncode
0

``limit`` needs cffi, and threadpoolctl to set the sizes of pools; ``array``, ``where`` and ``move`` need cffi and numpy;
``read_results`` makes DataFrames where pandas is. All else needs nothing.
"""
from ._arrays import Pages, Placement, array, move, where
from ._installed import NighError, binary
from ._limit import Lease, limit
from ._machine import Cache, Diagnosis, Domain, Finding, Topology, doctor, topology
from ._programs import Configuration, Tuning, TuningInterrupted, run, tune
from ._results import read_results

__all__ = [
    "Cache", "Configuration", "Diagnosis", "Domain", "Finding", "Lease", "NighError", "Pages", "Placement", "Topology",
    "Tuning", "TuningInterrupted", "array", "binary", "doctor", "limit", "move", "read_results", "run", "topology", "tune",
    "where",
]
__version__: str


def __getattr__(name: str) -> str:
    if name == "__version__":
        from ._installed import version
        return version()
    raise AttributeError(f"module 'nigh' has no attribute {name!r}")
