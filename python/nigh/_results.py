# SPDX-License-Identifier: Apache-2.0
"""The result files of nigh: JSON lines, as docs/results-schema.md describes them."""
from __future__ import annotations

import importlib
import json
import os
from typing import Any, Dict, List, Optional

from ._installed import Path


def rows_of(file: Path) -> List[Dict[str, Any]]:
    """The lines of a file, each a dict."""
    rows = []
    with open(file, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as wrong:
                raise ValueError(f"{os.fspath(file)}:{number}: no JSON: {wrong}") from None
            if not isinstance(row, dict):
                raise ValueError(f"{os.fspath(file)}:{number}: not one JSON object on the line")
            rows.append(row)
    return rows


def read_results(file: Path, *, frame: Optional[bool] = None) -> Any:
    """Reads what ``nigh bench --json``, ``nigh tune --json``, ``nigh profile --output`` or ``nigh sim --json`` wrote.

    A pandas DataFrame where pandas is installed, with a row for each line, and columns such as ``variant``, ``median``,
    ``params.threads`` and ``run.machine``; otherwise a list of dicts, as they are in the file. ``frame=True`` insists on
    a DataFrame, ``frame=False`` on the list.

    ``ValueError`` names the line that is not JSON.
    """
    rows = rows_of(file)
    if frame is False:
        return rows
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        if frame:
            raise ImportError("nigh.read_results(frame=True) needs pandas: pip install pandas") from None
        return rows
    return pandas.json_normalize(rows)
