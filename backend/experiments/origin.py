"""What a result depends on besides its point: the algorithms, the code that measures, and the file of real interests.

Sources are hashed as parsed, without docstrings: a comment or an example leaves results as they are, a changed line of an
algorithm makes them stale. Which release measured them is kept beside that, for the page to say.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import algorithms
from backend.experiments import measure as measuring
from backend.experiments.sweep import Point, Sweep

_DIGITS = 16
_SHOWN = 8
_TOLD = {"SWEEPS", "STATEMENTS", "FINDINGS", "CHAPTERS"}
"""What a sweep is called and what is said of its figures: changes nothing that was measured."""


class Origin(NamedTuple):
    """Where a result comes from; equal ``sources`` and ``data`` mean that measuring again would tell nothing new."""

    version: str
    sources: str
    data: str | None
    """Of the file that the point reads, if it reads one."""

    def is_as(self, other: Origin) -> bool:
        """Whether both were measured by the same code from the same data."""
        return (self.sources, self.data) == (other.sources, other.data)


def origin_of(sweep: Sweep, point: Point) -> Origin:
    """What a point measured now depends on."""
    file = sweep.data(point)
    return Origin(version("topicweave"), sources_of(sweep.measure), _content(file) if file else None)


def sources_of(measure: Callable[..., Any]) -> str:
    """A hash of everything in algorithms/, of the module that measures, and of the libraries that kernels and draws rest on."""
    own = [Path(file) for file in (inspect.getsourcefile(measure), measuring.__file__) if file]
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {_algorithms()}".encode())
    for file in sorted(set(own)):
        digest.update(_parsed(file).encode())
    return digest.hexdigest()[:_DIGITS]


def fingerprint(sweeps: Iterable[Sweep]) -> str:
    """Of everything that the figures of these sweeps depend on but for files of real interests, short enough to read out."""
    digest = hashlib.sha256()
    for sweep in sorted(sweeps, key=lambda sweep: sweep.name):
        digest.update(f"{sweep.name} {sources_of(sweep.measure)}".encode())
    return digest.hexdigest()[:_SHOWN]


@cache
def _algorithms() -> str:
    """Of all algorithms: nearly every sweep measures several, and each module imports many others."""
    digest = hashlib.sha256()
    for folder in map(Path, algorithms.__path__):
        for file in sorted(folder.rglob("*.py")):
            digest.update(f"{file.relative_to(folder).as_posix()} {_parsed(file)}".encode())
    return digest.hexdigest()


@cache
def _parsed(file: Path) -> str:
    return bare(file.read_text(encoding="utf-8"))


def bare(source: str) -> str:
    """A module as parsed, without what is only read by people."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not _only_told(node)]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    """A docstring, of a definition or below an attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _only_told(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id in _TOLD for target in node.targets
    )


@cache
def _content(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:_DIGITS]
