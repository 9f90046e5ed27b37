# SPDX-License-Identifier: Apache-2.0
"""The shared library beside the commands, by cffi."""
from __future__ import annotations

import functools
import importlib
from typing import Any, Tuple

from . import _threadpoolctl
from ._installed import prefix


@functools.lru_cache(maxsize=None)
def library() -> Tuple[Any, Any]:
    """cffi's ``(ffi, lib)``; ``ImportError`` where cffi is not installed."""
    try:
        cffi: Any = importlib.import_module("cffi")
    except ImportError:
        raise ImportError("this part of nigh needs cffi: pip install cffi (Debian: python3-cffi)") from None
    folder = prefix() / "libexec" / "nigh"
    declarations = (folder / "nigh-python.h").read_text(encoding="utf-8")
    ffi = cffi.FFI()
    ffi.cdef(declared(declarations))
    lib = ffi.dlopen(str(folder / "nigh-python.so"))
    _threadpoolctl.register()
    return ffi, lib


def declared(header: str) -> str:
    """A header without the lines that are for the preprocessor, and without what C++ needs between these."""
    out = []
    is_for_cxx = False
    for line in header.splitlines():
        if line.startswith("#ifdef __cplusplus"):
            is_for_cxx = True
        elif line.startswith("#endif"):
            is_for_cxx = False
        elif not line.startswith("#") and not is_for_cxx:
            out.append(line)
    return "\n".join(out)


def text(ffi: Any, pointer: Any) -> str:
    """A string of C's."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")
