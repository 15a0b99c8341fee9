"""``make bench``: every table, one after the other."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).parent
    for module in sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_")):
        source = (here / f"{module}.py").read_text()
        if 'if __name__ == "__main__":' not in source:
            continue
        print(f"\n## {module}\n", flush=True)
        sys.argv = [f"benchmarks.{module}"]
        runpy.run_module(f"benchmarks.{module}", run_name="__main__")
