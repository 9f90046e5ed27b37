# SPDX-License-Identifier: Apache-2.0
"""numpy arrays whose pages lie where a placement says, and where pages lie."""
from __future__ import annotations

import dataclasses
import functools
import importlib
import operator
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Sequence, Tuple, Union

from ._installed import NighError
from ._library import library, text
from ._machine import topology

if TYPE_CHECKING:
    import numpy

KINDS = ("first-touch", "interleave", "bind", "blocked", "cyclic")  # nigh::placement::kind
WRONG_ARGUMENT, NO_MEMORY = 1, 2  # of nigh_block_make()


@dataclasses.dataclass(frozen=True)
class Placement:
    """Which locality domain gets which page of an array. Make one with the functions below, or write it as text."""

    kind: str
    value: int = 0

    @staticmethod
    def first_touch() -> "Placement":
        """``"first-touch"``: each page lies in the domain of the thread that first writes it, as without nigh."""
        return Placement("first-touch")

    @staticmethod
    def interleave() -> "Placement":
        """``"interleave"``: single pages, in turn over the domains."""
        return Placement("interleave")

    @staticmethod
    def bind(domain: int) -> "Placement":
        """``"bind:1"``: all in one domain."""
        return Placement("bind", domain)

    @staticmethod
    def blocked(granule: int = 1) -> "Placement":
        """``"blocked"``: a block for each domain, of equal size; ``"blocked:1024"``: cut at multiples of 1024 elements."""
        return Placement("blocked", granule)

    @staticmethod
    def cyclic(elements: int) -> "Placement":
        """``"cyclic:4096"``: pieces of 4096 elements, in turn over the domains."""
        return Placement("cyclic", elements)

    @staticmethod
    def parse(text: str) -> "Placement":
        """A placement from its text, as in ``"cyclic:4096"``."""
        kind, colon, value = text.partition(":")
        wrong = ValueError(f"placement {text!r} is none of first-touch, interleave, bind:DOMAIN, blocked, "
                           "blocked:ELEMENTS, cyclic:ELEMENTS")
        if kind not in KINDS or (colon and not value.isdecimal()):
            raise wrong
        if bool(colon) != (kind in ("bind", "cyclic")) and not (kind == "blocked"):
            raise wrong
        return Placement(kind, int(value) if colon else 1 if kind == "blocked" else 0)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"placement {self.kind!r} is none of {', '.join(KINDS)}")
        if not 0 <= self.value < (2**31 if self.kind == "bind" else 2**63):
            raise ValueError(f"placement {self.kind}: {self.value} is no number of elements or of a domain")

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" if self.kind in ("bind", "blocked", "cyclic") else self.kind


@dataclasses.dataclass(frozen=True)
class Pages:
    """Where the pages of some memory lie, by the kernel's word."""

    of_domain: Tuple[int, ...]  #: how many pages lie in each domain
    pages: int  #: of them all
    untouched: int  #: there is no page yet: nobody has written there
    elsewhere: int  #: on a NUMA node that is no domain
    unknown: int  #: the kernel would not tell
    misplaced: int  #: of a placed array: in another domain than its placement says
    page_bytes: int


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise ImportError("this part of nigh needs numpy: pip install numpy (Debian: python3-numpy)") from None


@functools.lru_cache(maxsize=None)
def _memory() -> Tuple[Any, Any, int]:
    """The library, told which domains this host has, and their number."""
    ffi, lib = library()
    domains = topology().domains
    told = lib.nigh_use_domains(
        len(domains), [-1 if one.os_node is None else one.os_node for one in domains],
        [one.memory_bytes for one in domains], [one.nearest_memory for one in domains],
        [len(one.cpus) for one in domains], [cpu for one in domains for cpu in one.cpus])
    if not told:
        raise MemoryError("no memory is left for the machine's domains")
    return ffi, lib, len(domains)


def array(shape: Union[int, Sequence[int]], dtype: Any = float, *, placement: Union[str, Placement] = "first-touch",
          order: str = "C", huge_pages: bool = False) -> "numpy.ndarray[Any, Any]":
    """An array of zeros whose pages lie where ``placement`` says.

    >>> a = nigh.array((4096, 4096), placement="blocked:4096")     # whole rows in each domain

    The memory is placed in units of pages: 4 KiB, or with ``huge_pages`` 2 MiB where the system has these. Elements are
    counted as they lie in memory. On a machine with one domain there is nothing to choose. Where the kernel refuses to
    bind memory, threads in the wanted domains touch it first, and a ``RuntimeWarning`` says so.

    Views and slices keep the memory alive. ``ValueError`` for a placement that this machine cannot have, ``TypeError``
    for a dtype with Python objects in it, ``MemoryError`` where there is not enough.
    """
    numpy = _numpy()
    rule = Placement.parse(placement) if isinstance(placement, str) else placement
    if not isinstance(rule, Placement):
        raise TypeError(f"placement is text or a nigh.Placement, not {type(rule).__name__}")
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    # Numpy has its own idea of some: "S" becomes "S1", and ("f8", 3) one more side.
    example = numpy.empty(0, dtype)
    kind = example.dtype
    if kind.hasobject:
        raise TypeError(f"dtype {kind} has Python objects in it, and these are not placed")
    try:
        sides: Tuple[int, ...] = (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        if not isinstance(shape, Iterable):
            raise TypeError(f"shape is a whole number, or a sequence of these, not {type(shape).__name__}") from None
        sides = tuple(map(operator.index, shape))
    if any(side < 0 for side in sides):
        raise ValueError(f"shape {sides} has a negative side")
    sides += example.shape[1:]
    count = 1
    for side in sides:
        count *= side
    if count * max(kind.itemsize, 1) >= 2**63:
        raise MemoryError(f"an array of {count} elements is larger than memory can be")
    if kind.itemsize == 0:
        count = 0  # there is nothing to place
    ffi, lib, _ = _memory()
    error, why = ffi.new("int*"), ffi.new("char const**")
    block = lib.nigh_block_make(count, max(kind.itemsize, 1), KINDS.index(rule.kind), rule.value, huge_pages, error, why)
    if block == ffi.NULL:
        said = text(ffi, why[0])
        if error[0] == WRONG_ARGUMENT:
            raise ValueError(said)
        raise (MemoryError if error[0] == NO_MEMORY else NighError)(said)
    note = text(ffi, lib.nigh_block_note(block))
    data = lib.nigh_block_data(block)
    owned = ffi.gc(data, lambda _: lib.nigh_block_free(block)) if data != ffi.NULL else None
    if owned is None:
        lib.nigh_block_free(block)
    if note:  # a warning may be an exception
        warnings.warn(note, RuntimeWarning, stacklevel=2)
    if owned is None:
        return numpy.zeros(sides, kind, order)  # type: ignore[no-any-return]
    flat = numpy.frombuffer(ffi.buffer(owned, count * kind.itemsize), kind, count)
    return flat.reshape(sides, order=order)  # type: ignore[no-any-return]


def _range(a: Any) -> Tuple[int, int]:
    """The address of an array's first byte, and how many lie from there to its last."""
    if not isinstance(a, _numpy().ndarray):
        raise TypeError(f"this is no numpy array but a {type(a).__name__}")
    if a.size == 0:
        return 0, 0
    first = last = a.__array_interface__["data"][0]
    for side, stride in zip(a.shape, a.strides):
        first += min(0, (side - 1) * stride)
        last += max(0, (side - 1) * stride)
    return first, last - first + a.itemsize


def where(a: "numpy.ndarray[Any, Any]") -> Pages:
    """In which domains the pages of an array lie: of ``nigh.array()``'s, of numpy's own, or of a slice.

    Asking moves nothing and touches nothing. ``NighError`` where the kernel does not answer.
    """
    first, size = _range(a)
    ffi, lib, domains = _memory()
    why, found = ffi.new("char const**"), ffi.new("nigh_pages*")
    counts = ffi.new("size_t[]", domains)
    if lib.nigh_where(ffi.cast("void*", first), size, counts, found, why) != 0:
        raise NighError(text(ffi, why[0]))
    return Pages(tuple(counts), found.pages, found.untouched, found.elsewhere, found.unknown, found.misplaced,
                 found.page_bytes)


def move(a: "numpy.ndarray[Any, Any]", domain: int) -> None:
    """Moves the pages of an array to a domain, with the rest of its first and last page.

    ``NighError`` where there is no such domain, or not all pages could be moved.
    """
    first, size = _range(a)
    if not -2**31 <= operator.index(domain) < 2**31:
        raise NighError(f"migrate: there is no domain {domain}")
    ffi, lib, _ = _memory()
    why = ffi.new("char const**")
    if lib.nigh_move(ffi.cast("void*", first), size, domain, why) != 0:
        raise NighError(text(ffi, why[0]))
