"""Imports: interests in bulk, alone or with the links that exist already; and a second federation joined to this one."""

from backend.imports.jobs import Imports, Job
from backend.imports.request import ImportRequest

__all__ = ["ImportRequest", "Imports", "Job"]
