"""``make bench``: every table, one after the other."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).parent
    failed = []
    for module in sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_")):
        source = (here / f"{module}.py").read_text()
        if 'if __name__ == "__main__":' not in source:
            continue
        print(f"\n## {module}\n", flush=True)
        sys.argv = [f"benchmarks.{module}"]
        try:
            runpy.run_module(f"benchmarks.{module}", run_name="__main__")
        except SystemExit as end:
            # A table may end its program; the others are printed all the same.
            if end.code not in (None, 0):
                failed.append(f"{module}: {end.code}")
    if failed:
        sys.exit("\n".join(failed))
