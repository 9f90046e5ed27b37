# SPDX-License-Identifier: Apache-2.0
"""The machine, and findings about it, as data."""
from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Dict, Iterator, Optional, Tuple

from ._installed import Path, output_of

Cpus = Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Domain:
    """A locality domain: a memory, and the cpus that are near it."""

    index: int
    os_node: Optional[int]  #: Linux's number of the NUMA node
    memory_bytes: int
    nearest_memory: int  #: the domain with memory that is nearest, itself where it has some
    cpus: Cpus


@dataclasses.dataclass(frozen=True)
class Cache:
    """A cache, and the cpus that share it."""

    name: str  #: ``"L2"``, ``"L1d"``
    size_bytes: int
    cpus: Cpus


@dataclasses.dataclass(frozen=True)
class Topology:
    """A machine. Cpus have Linux's numbers, domains are counted from 0."""

    description: str
    is_this_host: bool
    cpus: Cpus  #: that this process may use
    cores: int
    domains: Tuple[Domain, ...]
    distances: Tuple[Tuple[float, ...], ...]  #: from domain, to domain; 10 is the nearest
    distances_source: str  #: ``"firmware"``, or ``"levels"`` where it says nothing
    caches: Tuple[Cache, ...]
    levels: Dict[str, Tuple[Cpus, ...]]  #: by level, as ``"l3"``: the groups of cpus that share one
    compact: Dict[str, Cpus]  #: by level: the cpus in an order in which neighbours are near
    scatter: Dict[str, Cpus]  #: by level: the cpus in an order in which neighbours are far

    def domain_of(self, cpu: int) -> Domain:
        """The domain that a cpu belongs to; ``KeyError`` for a cpu that is not there."""
        for domain in self.domains:
            if cpu in domain.cpus:
                return domain
        raise KeyError(f"no domain has cpu {cpu}")


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something on this machine that may slow programs."""

    id: str
    what: str
    why: str
    what_to_do: str


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The answer of ``nigh doctor``."""

    machine: str
    facts: Dict[str, Any]  #: as ``cpus_allowed``, ``cpu_quota``, ``huge_pages``; None: the system does not say
    findings: Tuple[Finding, ...]

    def __contains__(self, id: object) -> bool:
        """Whether there is a finding of this id: ``"quota" in nigh.doctor()``."""
        return any(finding.id == id for finding in self.findings)


def _parts(tree: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    yield tree
    for child in tree.get("children", ()):
        yield from _parts(child)


def _caches(tree: Dict[str, Any]) -> Iterator[Cache]:
    for part in _parts(tree):
        if part["type"] == "cache":
            cpus = tuple(sorted(one["os_index"] for one in _parts(part) if one["type"] == "cpu"))
            yield Cache(part["name"], part["size_bytes"], cpus)


def _topology(said: Dict[str, Any]) -> Topology:
    if said.get("format") != 1:
        raise ValueError(f"nigh topo wrote format {said.get('format')}, and this module reads 1")
    return Topology(
        description=said["description"],
        is_this_host=said["is_this_host"],
        cpus=tuple(said["cpus"]),
        cores=said["cores"],
        domains=tuple(
            Domain(d["index"], d["os_node"], d["memory_bytes"], d["nearest_memory"], tuple(d["cpus"]))
            for d in said["domains"]),
        distances=tuple(tuple(row) for row in said["distances"]["matrix"]),
        distances_source=said["distances"]["source"],
        caches=tuple(_caches(said["tree"])),
        levels={level: tuple(map(tuple, groups)) for level, groups in said["levels"].items()},
        compact={level: tuple(order) for level, order in said["compact"].items()},
        scatter={level: tuple(order) for level, order in said["scatter"].items()})


def topology(*, synthetic: Optional[str] = None, xml: Optional[Path] = None) -> Topology:
    """This host as ``nigh topo`` sees it, or another machine: described, or in a file of hwloc's.

    >>> nigh.topology(synthetic="pack:2 numa:1 core:2 pu:1").domains[1].cpus
    (2, 3)

    ``NighError`` where the description or the file makes no sense.
    """
    if synthetic is not None and xml is not None:
        raise ValueError("synthetic and xml are two machines: name one")
    arguments = ["topo", "--json"]
    if synthetic is not None:
        arguments += ["--synthetic", synthetic]
    if xml is not None:
        arguments += ["--xml", os.fspath(xml)]
    return _topology(json.loads(output_of(*arguments)))


def doctor() -> Diagnosis:
    """Finds things on this machine that may slow programs, as ``nigh doctor`` does.

    >>> [finding.id for finding in nigh.doctor().findings]
    ['one-domain', 'virtual-machine']
    """
    said = json.loads(output_of("doctor", "--json"))
    found = tuple(Finding(f["id"], f["what"], f["why"], f["what_to_do"]) for f in said["findings"])
    return Diagnosis(said["machine"], said["facts"], found)
