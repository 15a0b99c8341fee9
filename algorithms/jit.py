"""The one decorator of all kernels.

Numba's on-disk cache notices an edit of the file that holds a function, not of the files it calls into. So each file's
kernels are cached in a directory named after a hash of that file and of every file of this package it imports,
directly or not: an edit makes the kernels that may depend on it compile anew, and no others.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import platformdirs

_PACKAGE = Path(__file__).parent


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use, cache on disk, and release the GIL while running."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        sources = _sources_hash(Path(function.__code__.co_filename))
        numba.config.CACHE_DIR = str(Path(platformdirs.user_cache_dir("topicweave")) / "kernels" / sources)
    return numba.njit(cache=True, nogil=True)(function)


@cache
def _sources_hash(file: Path) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    seen, waiting = {file}, [file]
    while waiting:
        for source in _imported(waiting.pop()) - seen:
            seen.add(source)
            waiting.append(source)
    for source in sorted(seen):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _imported(file: Path) -> frozenset[Path]:
    """The files of this package that a file imports from."""
    return frozenset(path for path in _candidates(file) if path.is_file())


def _candidates(file: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == _PACKAGE.name:
            path = _PACKAGE.parent.joinpath(*node.module.split("."))
            yield path.with_suffix(".py")
            yield from (path / f"{alias.name}.py" for alias in node.names)
