# SPDX-License-Identifier: Apache-2.0
"""Shows threadpoolctl how many threads a block of nigh.limit() has, where threadpoolctl takes controllers (3.2)."""
from __future__ import annotations

import importlib
from typing import Any


def register() -> None:
    """Once the module's library is loaded: threadpoolctl finds controllers by the names of loaded libraries."""
    try:
        threadpoolctl: Any = importlib.import_module("threadpoolctl")
        base, add = threadpoolctl.LibController, threadpoolctl.register
    except (ImportError, AttributeError):
        return

    from . import _installed, _limit

    class NighController(base):  # type: ignore[misc, valid-type]
        """The lease as a pool. Its size is nighd's to choose, so setting it changes nothing."""

        user_api = "nigh"
        internal_api = "nigh"
        filename_prefixes = ("nigh-python",)
        check_symbols = ("nigh_lease_open",)

        def get_num_threads(self) -> int:
            return _limit.threads_now()

        def set_num_threads(self, num_threads: int) -> None:
            pass

        def get_version(self) -> str:
            return _installed.version()

        def set_additional_attributes(self) -> None:
            self.source = _limit.Lease().source

    add(NighController)
