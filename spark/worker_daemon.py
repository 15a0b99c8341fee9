"""The process that Spark forks its Python workers from, with what tasks need imported already.

Importing NumPy, Numba, pandas and the kernels takes a worker seconds; a fork of a process that has done it takes none.
Nothing is run here, only imported: a fork after a parallel kernel would kill the child.
"""

from __future__ import annotations

import pandas
import pyarrow
import pyspark.worker
from pyspark.daemon import manager

import spark.circles
import spark.conquer
import spark.verify

PRELOADED = (pandas, pyarrow, pyspark.worker, spark.circles, spark.conquer, spark.verify)

if __name__ == "__main__":
    manager()  # type: ignore[no-untyped-call]
