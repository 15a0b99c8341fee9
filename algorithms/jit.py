"""The one decorator of all kernels.

Numba's on-disk cache notices an edit of the file that holds a function, not of the files it calls into. So the cache
directory is named after a hash of every source file of this package that holds kernels: an edit of any of them starts
a fresh cache, an edit elsewhere does not.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numba
import platformdirs


def _sources_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        text = source.read_bytes()
        if b"import kernel" in text or source.name == Path(__file__).name:
            digest.update(text)
    return digest.hexdigest()[:16]


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(
        Path(platformdirs.user_cache_dir("topicweave")) / "kernels" / _sources_hash()
    )

kernel = numba.njit(cache=True, nogil=True)
"""``@kernel`` compiles on first use, caches on disk, and releases the GIL while it runs."""
