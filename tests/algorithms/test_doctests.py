"""Every example in the docstrings of algorithms/ gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import algorithms

MODULES = [algorithms.__name__, *(m.name for m in pkgutil.walk_packages(algorithms.__path__, "algorithms."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, _tried = doctest.testmod(importlib.import_module(name))
    assert not failed
